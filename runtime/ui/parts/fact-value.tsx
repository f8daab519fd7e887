import type { ComponentChildren } from 'preact'
import { shortHash } from '../i18n/format.ts'
import { api } from '../state/endpoints.ts'
import { may } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'
import { WorkloadLink } from './workload-link.tsx'

/** What an id in a record is about, as far as the record says: a request or a push belongs to a workload. */
export interface FactSubject {
  workloadId: string | undefined
  configHash: string | undefined
}

const PERSON = /user:([0-9a-f-]{36})/g
/** So many people are asked for by name; whoever comes after them is shown by id. */
const NAMED_MAX = 200

/** The ids of the people in something that is shown, each once. */
export const peopleIn = (shown: unknown): string[] =>
  [...new Set([...(JSON.stringify(shown) ?? '').matchAll(PERSON)].map(([, id]) => id!))].slice(0, NAMED_MAX)

/** What the people of these ids are called, by their ids. */
export function usePeople(ids: readonly string[]): ReadonlyMap<string, string> {
  const { data } = useResource(ids.length === 0 ? null : `people:${ids.join()}`, (abort) =>
    api.people(ids, abort),
  )
  return new Map((data?.people ?? []).map(({ id, name }) => [id, name]))
}

/** A text with the names of the people in it whose ids are known; each id stays beside its name, or is its title. */
export function NamedPeople({
  text,
  people,
  isShort,
}: {
  text: string
  people: ReadonlyMap<string, string>
  isShort: boolean
}) {
  // Every second piece is an id, as the expression captures it.
  return (
    <>
      {text.split(PERSON).map((piece, at) => {
        if (at % 2 === 0) return piece
        const email = people.get(piece)
        return (
          <span key={at} title={isShort ? `user:${piece}` : undefined}>
            {email !== undefined && (may('users:manage') ? <a href="/settings/users">{email}</a> : email)}{' '}
            {isShort ? (
              email === undefined && `user:${shortId(piece)}`
            ) : (
              <span class={email === undefined ? 'wrap' : 'faint wrap'}>user:{piece}</span>
            )}
          </span>
        )
      })}
    </>
  )
}

/** Where an id leads; null where its page is not known from the record. */
function hrefOf(name: string, id: string, { workloadId, configHash }: FactSubject): string | null {
  if (name === 'campaign_id') return `/campaigns/${id}`
  if (workloadId === undefined) return null
  if (name === 'approval_id') return `/workloads/${workloadId}/changes/${id}`
  if (name === 'rollout_id') return `/workloads/${workloadId}/rollouts/${id}`
  if (name === 'push_id' && configHash !== undefined)
    return `/workloads/${workloadId}/pushes/${configHash}?push=${id}`
  return null
}

const ID_SHOWN = 12
const shortId = (id: string): string => (id.length > ID_SHOWN ? `${id.slice(0, ID_SHOWN)}…` : id)

/** One field of a record: workloads and people by name with the id beside it, and ids as links to their pages. */
export function NamedFact({
  name,
  value,
  about,
  people,
  isShort = false,
  children,
}: {
  name: string
  value: unknown
  about: FactSubject
  people: ReadonlyMap<string, string>
  /** Of an id its beginning is shown, which is enough to tell it from those beside it; the whole is a title. */
  isShort?: boolean
  /** The value in words. */
  children: string
}): ComponentChildren {
  if (typeof value !== 'string' || value === '')
    return <NamedPeople text={children} people={people} isShort={isShort} />
  if (name === 'workload_id')
    return (
      <span title={isShort ? value : undefined}>
        <WorkloadLink id={value} /> {!isShort && <span class="mono faint wrap">{value}</span>}
      </span>
    )
  const href = hrefOf(name, value, about)
  if (href !== null)
    return (
      <a class="mono link" href={href} title={value}>
        {isShort ? shortId(value) : value.length > 40 ? shortHash(value) : value}
      </a>
    )
  return <NamedPeople text={children} people={people} isShort={isShort} />
}
