"""The model that needs no key. The composition root passes it to the catalog."""

from sidecar.models.port import BuiltinModel, Model


def _load() -> Model:
    from sidecar.offline.model import Offline  # compiles many patterns; loaded on first use

    return Offline()


OFFLINE = BuiltinModel("offline", "basic", _load)
