"""The model gateway on real sockets, prompts, the extractive model, and its activities."""
