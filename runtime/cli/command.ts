import type { Environment } from '../config.ts'

/** What a command works with besides its arguments. */
export interface ClientIo {
  env: Environment
  out(text: string): void
  error(text: string): void
  /** Everything on standard input, as it comes: what reads it says what it takes for text. */
  readInput(): Promise<Uint8Array>
  /** Whether what is printed is read by a person. */
  isTerminal: boolean
}

/** One option of a command, as it is written and completed. */
export interface Option {
  /** With its dashes: `--url`. */
  name: string
  short?: string
  /** The placeholder of its value in the usage, as in `--url URL`; absent for a switch. */
  value?: string
  /** The only values that it takes. */
  choices?: readonly string[]
  isRepeated?: boolean
  says: string
}

/** Arguments as they were read: options by name without dashes. */
export interface Arguments {
  positionals: readonly string[]
  /** The value of an option, or the last one given; undefined where it was not. */
  text(name: string): string | undefined
  all(name: string): readonly string[]
  isSet(name: string): boolean
}

/** A command of the client. */
export interface ClientCommandSpec {
  /** Positional arguments as usage shows them. */
  usage: string
  summary: string
  /** What the usage does not say; lines of at most 100 characters. */
  details?: string
  positionals: { min: number; max: number }
  /** What the first positional argument may be, where that is one of a few words. */
  words?: readonly string[]
  options: readonly Option[]
  run(args: Arguments, io: ClientIo): Promise<number>
}
