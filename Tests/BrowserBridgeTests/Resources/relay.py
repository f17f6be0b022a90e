"""A browser's end of the pipe, for tests: relay.py NAME HOST ARGUMENT... starts a host as a process called NAME.

A line of standard input is a message, framed as browsers do; `hex ` and digits are bytes as they are, `many N MESSAGE` sends a
message N times with its {} replaced by a count, `kill` kills the host, `stop` and `go on` stop and resume reading from it. Each
message of the host is a line of standard output. The host ends with standard input, and its status is the last line.
"""

import ctypes
import os
import struct
import subprocess
import sys
import threading

ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
host = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
reading = threading.Event()
reading.set()


def say(line):
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def receive():
    while True:
        reading.wait()
        header = host.stdout.read(4)
        if len(header) < 4:
            return
        say(host.stdout.read(struct.unpack("=I", header)[0]))


def frame(message):
    return struct.pack("=I", len(message)) + message


def send(data):
    try:
        host.stdin.write(data)
        host.stdin.flush()
    except BrokenPipeError:
        pass


receiver = threading.Thread(target=receive)
receiver.start()
say(b"host %d" % host.pid)
for line in sys.stdin.buffer:
    line = line.rstrip(b"\n")
    word = line.split(b" ")[0]
    if word == b"hex":
        send(bytes.fromhex(line[4:].decode()))
    elif word == b"many":
        _, count, message = line.split(b" ", 2)
        send(b"".join(frame(message.replace(b"{}", b"%d" % number)) for number in range(int(count))))
    elif word == b"big":
        _, length = line.split(b" ")
        send(frame(b" " * int(length)))
    elif word == b"kill":
        host.kill()
    elif word == b"stop":
        reading.clear()
    elif line == b"go on":
        reading.set()
    else:
        send(frame(line))
try:
    host.stdin.close()
except BrokenPipeError:
    pass
reading.set()
receiver.join()
say(b"ended %d" % host.wait())
