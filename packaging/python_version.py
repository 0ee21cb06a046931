"""Stops `make setup` with a clear message if Python is too old."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this file runs on the Python that is too old
    found = ".".join(str(part) for part in sys.version_info[:3])
    sys.exit("Rainy Brain needs Python 3.11 or newer; found %s. Try: make setup PYTHON=python3.12" % found)  # noqa: UP031
