import {
  isMembersQuestion,
  type KnownOwner,
  proveKnown,
  proveQuestion,
  readKnown,
} from '../../lib/cluster/proofs.ts'
import type { RawRequest } from '../listener.ts'
import { type Reply, text } from '../reply.ts'
import { NOT_A_MEMBER, type Self } from './member-headers.ts'

/** Where a member is asked who it is, and which owner it has a link to. */
const QUESTION_PATH = '/known-owner'
const NONCE = 'x-muster-nonce'
const ASKED = 'x-muster-asked'
const KNOWN = 'x-muster-known'

/** The question with this nonce, as it is sent on a new connection. */
export const writeQuestion = (nonce: string, { keys }: Pick<Self, 'keys'>): string =>
  [
    `GET ${QUESTION_PATH} HTTP/1.1`,
    'Host: member',
    `${NONCE}: ${nonce}`,
    `${ASKED}: ${proveQuestion(keys, nonce)}`,
    '\r\n',
  ].join('\r\n')

export const isQuestion = ({ path }: RawRequest): boolean => path === QUESTION_PATH

/** The answer of this process; whoever is no member is refused. */
export function answerQuestion(request: RawRequest, linkedEpoch: number, { keys, memberId }: Self): Reply {
  const nonce = request.header(NONCE)
  if (!isMembersQuestion(keys, nonce, request.header(ASKED)))
    return text(NOT_A_MEMBER.body, NOT_A_MEMBER.status, NOT_A_MEMBER.headers)
  return text('', 200, {
    [KNOWN]: proveKnown(keys, { id: memberId, linkedEpoch }, nonce),
    Connection: 'close',
  })
}

/** What the head of an answer to this question says; null where no member gives it. */
export function readAnswerTo(nonce: string, head: string, { keys }: Pick<Self, 'keys'>): KnownOwner | null {
  const line = head.split('\r\n').find((header) => header.toLowerCase().startsWith(`${KNOWN}:`))
  return line === undefined ? null : readKnown(keys, line.slice(KNOWN.length + 1).trim(), nonce)
}
