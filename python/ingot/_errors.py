"""The exception that every failure of Ingot becomes."""


class Error(Exception):
    """A failure, in one line that says what, where and why.

    Attributes:
      code: the name of the status, such as "NOT_FOUND", or "" for a failure of the compiler.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code
