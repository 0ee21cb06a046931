from tests.e2e.conftest import home, sidecar, workspace

__all__ = ["home", "sidecar", "workspace"]
