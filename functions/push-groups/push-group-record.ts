import { PUSH_GROUP_RULES, readSelector } from '../../lib/selectors/read-selector.ts'
import type { StoredPushGroup } from '../../lib/store/push-groups.ts'
import type { PushGroup } from '../../lib/wire/pushes.ts'
import type { Selector } from '../../lib/wire/selectors.ts'

const ID = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const NAME_LENGTH_MAX = 128
const DESCRIPTION_LENGTH_MAX = 1_024
const UNSTORABLE = /[\0-\u001f\u007f]|\p{Surrogate}/u

/** `Production EU` as an id: `production-eu`. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-|-$/g, '')

/** Check what was sent; without an id one is made from the name. */
export function readPushGroup(body: {
  id: string
  name: string
  description: string
  selector: Selector
}): { ok: true; group: StoredPushGroup } | { ok: false; error: string } {
  const name = body.name.trim()
  const description = body.description.trim()
  const id = body.id.trim() || slugOf(name)
  if (name === '') return { ok: false, error: 'name is required' }
  if (name.length > NAME_LENGTH_MAX) return { ok: false, error: `name exceeds ${NAME_LENGTH_MAX} characters` }
  if (description.length > DESCRIPTION_LENGTH_MAX) {
    return { ok: false, error: `description exceeds ${DESCRIPTION_LENGTH_MAX} characters` }
  }
  if (UNSTORABLE.test(name) || UNSTORABLE.test(description)) {
    return { ok: false, error: 'name and description must not have control characters' }
  }
  if (!ID.test(id)) {
    return { ok: false, error: 'id must be 1 to 63 lower-case letters, digits and inner hyphens' }
  }
  const read = readSelector(body.selector, PUSH_GROUP_RULES)
  return read.ok ? { ok: true, group: { id, name, description, selector: read.selector } } : read
}

/** A group as the wire shows it. */
export function toPushGroup({ id, name, description, selector }: StoredPushGroup): PushGroup {
  return { id, name, ...(description === '' ? {} : { description }), selector }
}
