import { isMembersChallenge, type OwnerName, proveChallenge, proveOwner } from '../../lib/cluster/proofs.ts'
import type { RawRequest } from '../listener.ts'
import { type Reply, text } from '../reply.ts'
import { NOT_A_MEMBER, NOT_THE_OWNER, type Self } from './member-headers.ts'

/** Where a member that has connected to an owner has it prove that it is. */
const CHALLENGE_PATH = '/challenge'
/** What the owner is to answer, and the proof that a member asks it to. */
const NONCE = 'x-muster-nonce'
const ASKED = 'x-muster-asked'
const PROOF = 'x-muster-proof'

/** The challenge with this nonce, as it is sent to this owner on a new connection before anything else. */
export const writeChallenge = (owner: OwnerName, nonce: string, { keys }: Pick<Self, 'keys'>): string =>
  [
    `GET ${CHALLENGE_PATH} HTTP/1.1`,
    'Host: owner',
    `${NONCE}: ${nonce}`,
    `${ASKED}: ${proveChallenge(keys, owner, nonce)}`,
    '\r\n',
  ].join('\r\n')

export const isChallenge = ({ path }: RawRequest): boolean => path === CHALLENGE_PATH

/** The owner's answer to a challenge; whoever else asks is refused, as for anything. */
export function answerChallenge(request: RawRequest, owner: OwnerName, { keys, isOverTls }: Self): Reply {
  const nonce = request.header(NONCE)
  if (!isMembersChallenge(keys, owner, nonce, request.header(ASKED)))
    return text(NOT_A_MEMBER.body, NOT_A_MEMBER.status, NOT_A_MEMBER.headers)
  // Between the ends of a connection over TLS addresses may be translated.
  const from = isOverTls ? '' : request.peerAddress
  return text('', 200, { [PROOF]: proveOwner(keys, owner, { nonce, from }) })
}

/** What the head of an answer to a challenge says: the proof, that the process is not the owner, or null for nothing. */
export function readAnswer(head: string): { proof: string } | 'not the owner' | null {
  const [start = '', ...lines] = head.split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(start)?.[1]
  if (status === String(NOT_THE_OWNER)) return 'not the owner'
  const line = lines.find((header) => header.toLowerCase().startsWith(`${PROOF}:`))
  if (status !== '200' || line === undefined) return null
  return { proof: line.slice(PROOF.length + 1).trim() }
}
