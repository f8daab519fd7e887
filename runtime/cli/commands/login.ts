import { LOGIN_TOKEN_HOURS } from '../../../lib/model/lifetimes.ts'
import type { Me } from '../../../lib/wire/identity.ts'
import { readSeconds } from '../arguments.ts'
import type { ClientCommandSpec, ClientIo } from '../command.ts'
import { EXIT, WrongArguments } from '../exit-codes.ts'
import { logInByBrowser } from '../login/browser-login.ts'
import { printLine } from '../output.ts'
import { chooseUrl, openApiWith, URL_OPTION } from '../server/api.ts'
import { credentialsFile, readCredentials, writeCredentials } from '../server/credentials.ts'
import { decodeText } from '../text-file.ts'

const WAIT_SECONDS_DEFAULT = 300
const WAIT_SECONDS_MAX = 3_600

/** `muster login`: keep a token for a service. */
export const login: ClientCommandSpec = {
  usage: '[--url URL] [--no-browser | --token-stdin]',
  summary: 'Sign in to a service, so that other commands need no token.',
  details: `A page of the service opens in the browser and asks whether it is you; compare its code with the one printed
here. You then have a token for ${LOGIN_TOKEN_HOURS} hours, which may do what you may, but for what needs a person. It is kept
for this URL in a file that only you can read. Where no browser is on this machine, make a token under Settings and pass
it on standard input with --token-stdin. A pipeline sets MUSTER_URL and MUSTER_TOKEN instead and signs in nowhere.`,
  positionals: { min: 0, max: 0 },
  options: [
    URL_OPTION,
    { name: '--no-browser', says: 'print the address and open nothing' },
    { name: '--token-stdin', says: 'read an API token from standard input' },
    { name: '--timeout', value: 'SECONDS', says: `wait so long for the browser (${WAIT_SECONDS_DEFAULT})` },
  ],
  async run(args, io) {
    const seconds = readSeconds(args, 'timeout', WAIT_SECONDS_DEFAULT, WAIT_SECONDS_MAX)
    if (args.isSet('token-stdin') && args.isSet('no-browser'))
      throw new WrongArguments('say --no-browser or --token-stdin, not both')
    const url = await chooseUrl(args, io)
    const options = { opensBrowser: !args.isSet('no-browser'), timeoutMs: seconds * 1_000 }
    const { token, email } = args.isSet('token-stdin')
      ? await readToken(url, io)
      : await logInByBrowser(url, options, io)
    const { tokens } = await readCredentials(io.env)
    await writeCredentials(io.env, { current: url, tokens: { ...tokens, [url]: token } })
    printLine(io, `Signed in to ${url} as ${email}; the token is in ${credentialsFile(io.env)}.`)
    return EXIT.done
  },
}

async function readToken(url: string, io: ClientIo): Promise<{ token: string; email: string }> {
  const token = decodeText('standard input', await io.readInput()).trim()
  if (token === '') throw new WrongArguments('standard input is empty: pass an API token')
  const { email } = await openApiWith(url, token, io).get<Me>('/api/me')
  return { token, email }
}
