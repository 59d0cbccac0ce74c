"""What runs inside the checked repository's own interpreter; nothing of depslice is there.

:mod:`~depslice.validator.workspace` copies this folder, as the package ``depslice_child``,
beside a copy of cloudpickle. It imports the standard library, cloudpickle, and itself.
"""
