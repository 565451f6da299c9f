"""The leaf every other part stands on: no models, no imports from the apps."""
