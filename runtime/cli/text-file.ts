import { CommandFailure, EXIT } from './exit-codes.ts'

/**
 * The text of a file. Throws CommandFailure with EXIT.refused where it is no UTF-8: with other signs in the place of
 * those that cannot be read, something would be checked and requested that the file does not hold.
 */
export function decodeText(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandFailure(`${file} is no UTF-8`, EXIT.refused)
  }
}
