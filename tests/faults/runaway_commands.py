"""Commands that outlive their deadline in every way a shell allows."""

DAEMON = """
import os, signal
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        for fd in (0, 1, 2):
            os.close(fd)
        os.execvp("sleep", ["sleep", "1000"])
    os._exit(0)
os.wait()
{after}
"""

COMMANDS = {
    "daemonizes and ends": ["python3", "-c", DAEMON.format(after="")],
    "daemonizes and stays": ["python3", "-c", DAEMON.format(after="signal.pause()")],
    "daemonizes without environment": "env -i setsid -f sleep 1000; sleep 1000",
    "forks without end": "while :; do sleep 1000 & done",
    "forks new sessions without end": "while :; do setsid sleep 1000 & sleep 0.01; done",
    "ignores SIGTERM": "trap '' TERM; while :; do sleep 1000; done",
    "holds the pipe": "sleep 1000 & echo held",
    "holds the pipe from another session": "setsid sleep 1000 & echo held",
    "reads the terminal": "cat /dev/tty; read x; sleep 1000",
    "stops itself": "kill -STOP $$",
}
