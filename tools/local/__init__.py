"""The local backend: files of this machine, and commands that leave nothing behind."""
