"""Commands of ours as they are printed: pasted into a shell they do what they say, and no more."""

import shlex

from cli.plain import plain


def pasted(verb: str, *arguments: str, **options: str) -> str:
    """A command of `starter.py`.

    Args:
        verb: the command.
        arguments: ids and texts of anybody. With a leading dash they would be options, so `--`
            stands before them, and what is an option before that.
        options: by name; `comment` for `--comment`.
    """
    given = [part for name, text in options.items() for part in (f"--{name}", quoted(text))]
    words = [quoted(argument) for argument in arguments]
    dashed = any(argument.startswith("-") for argument in arguments)
    return " ".join(
        ["uv run starter.py", verb, *([*given, "--", *words] if dashed else [*words, *given])]
    )


def quoted(text: str) -> str:
    """One word of a shell; with `$'...'` where it holds what could not be seen or copied."""
    if plain(text) == text and not set(text) & {"\n", "\t"}:
        return shlex.quote(text)
    return "$'" + "".join(_escaped(character) for character in text) + "'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if plain(character) == character and character not in "\n\t":
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode())
