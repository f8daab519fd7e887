/** How a command of the client ends. */
export const EXIT = {
  done: 0,
  /** Something failed: the service is away or knows no such token, or a file cannot be read. */
  error: 1,
  /**
   * What was asked for is refused: by validation, by policy, because the token may not do this, or because a document
   * means no workload for sure. Of many documents the others are done.
   */
  refused: 3,
  /** With `--exit-code` or `--wait`: something differs, or waits for somebody. */
  differs: 4,
  wrongArguments: 64,
} as const

/** A command cannot go on. The message is one line for the person who called. */
export class CommandFailure extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.error) {
    super(message)
    this.exitCode = exitCode
  }
}

/** The service gave no answer, or one that is none of muster. It may answer the same call later. */
export class NoAnswer extends CommandFailure {}

/** The command was called in a way that it does not have. */
export class WrongArguments extends CommandFailure {
  constructor(message: string) {
    super(message, EXIT.wrongArguments)
  }
}
