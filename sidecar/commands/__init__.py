"""The commands of `brain`, one module each: `define` says what it takes, and the parser calls what it set as `act`."""
