import type { ClientCommandSpec } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { chooseUrl, openApiWith, URL_OPTION } from '../server/api.ts'
import { readCredentials, writeCredentials } from '../server/credentials.ts'

/** `muster logout`: forget the token of a service. */
export const logout: ClientCommandSpec = {
  usage: '[--url URL] [--revoke]',
  summary: 'Forget the token that is kept for a service.',
  details: 'With --revoke the service forgets it as well: it works nowhere any more.',
  positionals: { min: 0, max: 0 },
  options: [URL_OPTION, { name: '--revoke', says: 'take the token away at the service as well' }],
  async run(args, io) {
    const url = await chooseUrl(args, io)
    const { current, tokens } = await readCredentials(io.env)
    const { [url]: token, ...rest } = tokens
    if (token === undefined) {
      io.out(`No token is kept for ${url}.\n`)
      return EXIT.done
    }
    if (args.isSet('revoke')) await openApiWith(url, token, io).post('/api/auth/logout')
    await writeCredentials(io.env, { current: current === url ? null : current, tokens: rest })
    io.out(`${args.isSet('revoke') ? 'Revoked' : 'Forgot'} the token for ${url}.\n`)
    return EXIT.done
  },
}
