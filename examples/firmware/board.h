/* What a board offers to the program. */
#ifndef EXAMPLES_FIRMWARE_BOARD_H_
#define EXAMPLES_FIRMWARE_BOARD_H_

/* Writes text, without a line break of its own. */
void put_text(const char* text);

/* Ends the program. */
void exit_with(int status);

#endif /* EXAMPLES_FIRMWARE_BOARD_H_ */
