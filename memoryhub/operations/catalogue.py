"""Importing this module registers every operation of every family."""

from importlib import import_module
from pkgutil import iter_modules

from memoryhub import operations

for family in iter_modules(operations.__path__, "memoryhub.operations."):
    if family.ispkg:
        for module in iter_modules(import_module(family.name).__path__, f"{family.name}."):
            import_module(module.name)
