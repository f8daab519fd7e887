import type { Me } from '../../../lib/wire/identity.ts'
import type { ClientCommandSpec } from '../command.ts'
import { EXIT, WrongArguments } from '../exit-codes.ts'
import { printLine } from '../output.ts'
import { chooseUrl, openApiWith, URL_OPTION } from '../server/api.ts'
import { credentialsFile, readCredentials, writeCredentials } from '../server/credentials.ts'

/** `muster login`: keep a token for a service. */
export const login: ClientCommandSpec = {
  usage: '--token-stdin [--url URL]',
  summary: 'Keep an API token for a service, so that other commands need none.',
  details: `The token is read from standard input: make one under Settings. It is tried, and kept for this URL in a file
that only you can read. A pipeline sets MUSTER_URL and MUSTER_TOKEN instead and signs in nowhere.`,
  positionals: { min: 0, max: 0 },
  options: [URL_OPTION, { name: '--token-stdin', says: 'read the token from standard input' }],
  async run(args, io) {
    if (!args.isSet('token-stdin')) throw new WrongArguments('say --token-stdin and pass an API token')
    const url = await chooseUrl(args, io)
    const token = (await io.readInput()).trim()
    if (token === '') throw new WrongArguments('standard input is empty: pass an API token')
    const { email } = await openApiWith(url, token, io).get<Me>('/api/me')
    const { tokens } = await readCredentials(io.env)
    await writeCredentials(io.env, { current: url, tokens: { ...tokens, [url]: token } })
    printLine(io, `Signed in to ${url} as ${email}; the token is in ${credentialsFile(io.env)}.`)
    return EXIT.done
  },
}
