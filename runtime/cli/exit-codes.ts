/** How a command of the client ends. */
export const EXIT = {
  done: 0,
  /** Something is away, unreadable or not allowed to this token. */
  error: 1,
  /** Refused by validation, policy or scope. */
  refused: 3,
  /** Only where it was asked for: something differs, or waits for somebody. */
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

/** The command was called in a way that it does not have. */
export class WrongArguments extends CommandFailure {
  constructor(message: string) {
    super(message, EXIT.wrongArguments)
  }
}
