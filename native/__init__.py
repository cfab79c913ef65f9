"""The build of the kernels: from Python functions to one shared library. Not used at run time."""
