from notebook_project import project

__all__ = ["project"]
