"""What every other part of the library may use: errors, paths, provenance, files, tables."""
