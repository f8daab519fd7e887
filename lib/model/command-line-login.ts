/** What a command line asks somebody to confirm in the browser. */
export interface CommandLineLogin {
  /** PKCE with S256: the SHA-256 of what only the command line knows, in base64url. */
  challenge: string
  /** What the command line knows its own answer by. */
  state: string
  /** Where it listens on this machine. */
  port: number
  /** What it calls the machine. */
  machine: string
}

const HASH = /^[\w-]{43}$/
const STATE = /^[\w-]{16,128}$/
const MACHINE = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u

/** Whether these could be of a command line of ours: its port is one that every user may listen on. */
export const isCommandLineLogin = ({ challenge, state, port, machine }: CommandLineLogin): boolean =>
  HASH.test(challenge) &&
  STATE.test(state) &&
  Number.isInteger(port) &&
  port >= 1_024 &&
  port <= 65_535 &&
  MACHINE.test(machine)

/** A name of a machine as it may be told; what is no name is left out. */
export function toMachineName(hostname: string): string {
  const name = hostname.replaceAll(/[^\p{L}\p{N}._-]/gu, '').replace(/^[._-]+/, '')
  return name === '' ? 'unknown' : name.slice(0, 64)
}

/** No I, L, O and U: nobody takes one of these for another. */
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

/** Where the browser brings the answer to: this machine, whatever else was asked for. */
export function answerAddress(port: number, answer: Readonly<Record<string, string>>): string {
  return `http://127.0.0.1:${port}/?${new URLSearchParams(answer)}`
}
