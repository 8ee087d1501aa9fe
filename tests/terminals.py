"""Terminals: shells that are typed into one after the other, as the README's readers do."""

import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

END = "- - - typed - - -"
BOTH = "both terminals"
_BLOCK = re.compile(r"```sh\n(?:# ([^\n]*terminals?)\n)?(.*?)```", re.DOTALL)


class Block(NamedTuple):
    """What is typed in one go, and into which terminal."""

    terminal: str
    text: str

    @property
    def follows(self) -> bool:
        """Return whether it follows a stream of events, so that the next is typed while it does."""
        return "curl -s -N " in self.text


def blocks(section: str) -> list[Block]:
    """Return what a section of the README has its reader type, in order."""
    return [Block(terminal or "terminal", text) for terminal, text in _BLOCK.findall(section)]


class Terminal:
    """A shell that stops at the first command that fails; leaving its context ends it."""

    def __init__(self, directory: Path, environ: Mapping[str, str]) -> None:
        self.said = ""
        self._shell = subprocess.Popen(
            ["/bin/sh", "-eu"],
            cwd=directory,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.kill()
        with suppress(BrokenPipeError):
            self._shell.communicate()

    def type(self, text: str) -> None:
        """Type commands and do not wait for what they show."""
        assert self._shell.stdin
        with suppress(BrokenPipeError):  # a command has failed, as is seen when it is waited for
            self._shell.stdin.write(text)
            self._shell.stdin.flush()

    def wait(self) -> None:
        """Wait until all that was typed has been done (AssertionError if a command has failed)."""
        self.type(f"echo '{END}'\n")
        self.wait_for(END)
        self.said = self.said.removesuffix(f"{END}\n")

    def wait_for(self, text: str) -> None:
        """Wait until a line with this text is shown (AssertionError if the shell ends before)."""
        assert self._shell.stdout
        for line in self._shell.stdout:
            self.said += line
            if text in line:
                return
        raise AssertionError(f"a command has failed:\n{self.said}")


def typed(section: str, directory: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Type a section's blocks, each into its terminal; return what every terminal shows."""
    typing = blocks(section)
    names = [name for name in dict.fromkeys(block.terminal for block in typing) if name != BOTH]
    terminals = {name: Terminal(directory, environ) for name in names}
    try:
        for block in typing:
            for name in names if block.terminal == BOTH else [block.terminal]:
                terminals[name].type(block.text)
                if block.follows:
                    terminals[name].wait_for("event: ")
                else:
                    terminals[name].wait()
        for terminal in terminals.values():
            terminal.wait()
    finally:
        for terminal in terminals.values():
            terminal.__exit__()
    return {name: terminal.said for name, terminal in terminals.items()}
