"""The command line, run as people run it: a real process, a real server, a state directory."""
