/** What a command line asks somebody to confirm in the browser. */
export interface CommandLineLogin {
  /** PKCE with S256: the SHA-256 of what only the command line knows, in base64url. */
  challenge: string
  /** A random text by which the command line recognises the answer to its own question. */
  state: string
  /** The loopback port on which the command line listens. */
  port: number
  /** The name of the machine on which the command line runs. */
  machine: string
}

const HASH = /^[\w-]{43}$/
const STATE = /^[\w-]{16,128}$/
const MACHINE = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u

/** Whether the values have the form that the command line sends, with a port that needs no privileges. */
export const isCommandLineLogin = ({ challenge, state, port, machine }: CommandLineLogin): boolean =>
  HASH.test(challenge) &&
  STATE.test(state) &&
  Number.isInteger(port) &&
  port >= 1_024 &&
  port <= 65_535 &&
  MACHINE.test(machine)

/** A host name without the characters that `isCommandLineLogin` refuses; `unknown` when nothing is left. */
export function toMachineName(hostname: string): string {
  const name = hostname.replaceAll(/[^\p{L}\p{N}._-]/gu, '').replace(/^[._-]+/, '')
  return name === '' ? 'unknown' : name.slice(0, 64)
}

/** Crockford's Base32: without I, L, O and U, which people take for other characters. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const URL_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * Forty bits of a challenge, for a person to compare on two screens: 7K3M-QX2A. They are the same where the page is
 * about the command line that the person started.
 */
export function compareCode(challenge: string): string {
  let bits = ''
  for (const letter of challenge.slice(0, 7))
    bits += Math.max(0, URL_LETTERS.indexOf(letter)).toString(2).padStart(6, '0')
  const letters = Array.from(
    { length: 8 },
    (_, at) => LETTERS[Number.parseInt(bits.slice(at * 5, at * 5 + 5), 2)],
  )
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`
}

/** The address to which the browser brings the answer: always a port of its own machine. */
export function answerAddress(port: number, answer: Readonly<Record<string, string>>): string {
  return `http://127.0.0.1:${port}/?${new URLSearchParams(answer)}`
}
