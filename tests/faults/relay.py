"""Passes messages between a program and its engine, and breaks the connection at one of them, once.

Usage: relay.py NOTES POINT COMMAND…

COMMAND is the engine's. POINT is DIRECTION:NUMBER:PART, as in engine:3:half: the connection breaks at the third message to
the engine (`program`: to the program), after half of it has passed, or none of it. When it is `count`, nothing breaks, and the
folder NOTES gets a file for each direction with a byte for each message. A connection that was broken stands there, too, so
that the next one is whole.
"""

import os
import pathlib
import signal
import subprocess
import sys
import threading

# Of a message: the length of what follows, in eight bytes, and a checksum in four.
PREFIX = 12


def messages(pipe):
    while len(prefix := pipe.read(PREFIX)) == PREFIX:
        yield prefix + pipe.read(int.from_bytes(prefix[:8], "little"))


class Relay:
    def __init__(self, notes, point, command):
        self.notes, self.point = pathlib.Path(notes), point
        self.engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def pass_on(self, direction, source, target):
        """Passes on the messages in a direction to the end."""
        try:
            for number, message in enumerate(messages(source), 1):
                if self.point == "count":
                    with (self.notes / direction).open("ab") as counted:
                        counted.write(b".")
                part = self.breaks_at(direction, number)
                if part != "none":
                    target.write(message[: len(message) // 2] if part == "half" else message)
                    target.flush()
                if part:
                    self.engine.kill()
                    break
            target.close()
        except BrokenPipeError:
            # Who reads them is gone, which the other direction notices.
            pass

    def breaks_at(self, direction, number):
        """The part of a message after which the connection breaks; None if it passes."""
        broken = self.notes / "broken"
        for part in ["none", "half"]:
            if self.point == f"{direction}:{number}:{part}" and not broken.exists():
                broken.touch()
                return part
        return None

    def run(self):
        to_engine = ("engine", sys.stdin.buffer, self.engine.stdin)
        passing = threading.Thread(target=self.pass_on, args=to_engine, daemon=True)
        passing.start()
        self.pass_on("program", self.engine.stdout, sys.stdout.buffer)
        return self.engine.wait()


def main():
    relay = Relay(sys.argv[1], sys.argv[2], sys.argv[3:])
    code = relay.run()
    # As an engine that was killed. The other thread may still read what nobody writes any more.
    if code < 0:
        signal.raise_signal(signal.SIGKILL)
    os._exit(code)


if __name__ == "__main__":
    main()
