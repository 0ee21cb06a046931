"""
ModelError
└── NoSuchModel     a name that stands for no model that can be used here
"""


class ModelError(Exception):
    pass


class NoSuchModel(ModelError):
    pass
