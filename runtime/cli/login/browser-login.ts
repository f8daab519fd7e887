import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { compareCode, toMachineName } from '../../../lib/model/command-line-login.ts'
import type { CommandLineToken } from '../../../lib/wire/identity.ts'
import type { ClientIo } from '../command.ts'
import { CommandFailure, EXIT } from '../exit-codes.ts'
import { openApiAsNobody } from '../server/api.ts'
import { type BrowserAnswer, openAnswerListener } from './answer-listener.ts'
import { openBrowser } from './open-browser.ts'

const PAGE = '/command-line'
/** How long a browser may take to start; a person reads the question for longer. */
const LEAD_SETTLES_MS = 3_000

/**
 * Have a person confirm in the browser that this command line may act for her; resolves with the token. Throws
 * CommandFailure.
 */
export async function logInByBrowser(
  url: string,
  options: { opensBrowser: boolean; timeoutMs: number },
  io: ClientIo,
): Promise<CommandLineToken> {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const state = randomBytes(32).toString('base64url')
  const listener = await openAnswerListener(state, (end) => `${url}${PAGE}?end=${end}`, LEAD_SETTLES_MS)
  let end: 'done' | 'denied' | 'failed' = 'failed'
  try {
    const asked = { challenge, state, port: String(listener.port), machine: toMachineName(hostname()) }
    const address = `${url}${PAGE}?${new URLSearchParams(asked)}`
    io.error(`Confirm the sign-in in a browser on this machine:\n\n  ${address}\n\n`)
    io.error(`The page shows this code: ${compareCode(challenge)}\n`)
    // Everybody on this machine sees the browser's arguments: who had the state could answer in the browser's place.
    if (options.opensBrowser) openBrowser(listener.leadOnce(address), io.env)
    const answer = await listener.wait(options.timeoutMs)
    if (answer?.kind === 'denied') end = 'denied'
    const { code } = demandCode(answer)
    const token = await openApiAsNobody(url, io).post<CommandLineToken>('/api/auth/command-line/token', {
      code,
      verifier,
    })
    end = 'done'
    return token
  } finally {
    await listener.close(end)
  }
}

function demandCode(answer: BrowserAnswer | null): { code: string } {
  if (answer === null) throw new CommandFailure('nobody confirmed the sign-in in time')
  if (answer.kind === 'denied')
    throw new CommandFailure('the sign-in was refused in the browser', EXIT.refused)
  if (answer.kind === 'overheard')
    throw new CommandFailure(
      'the address that the browser was given was opened twice: another program on this machine may have been first, so nobody is signed in. Sign in with --no-browser, and open the address that is printed yourself',
    )
  return answer
}
