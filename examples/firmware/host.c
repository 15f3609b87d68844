/* The same program on the machine that compiles: text goes to stdout. */
#include <stdio.h>
#include <stdlib.h>

#include "examples/firmware/board.h"

void put_text(const char* text) { fputs(text, stdout); }

void exit_with(int status) { exit(status); }
