import type { EvidenceItem, FactValue } from '../wire/reports.ts'

/** What people are called, by their ids; nobody where a document names nobody. */
export type People = ReadonlyMap<string, string>

const PERSON = /^user:(.+)$/

/** What stands for a person in a document: the name before the id, where it is known. */
export function namePerson(ref: string, people: People): string {
  const name = people.get(PERSON.exec(ref)?.[1] ?? '')
  return name === undefined ? ref : `${name} (${ref})`
}

/** Facts that say who did something; an e-mail in any other was taken out on purpose. */
const isWho = (key: string): boolean => key === 'by' || key.endsWith('_by')

function nameIn(key: string, value: FactValue, people: People): FactValue {
  if (typeof value === 'string') return isWho(key) ? namePerson(value, people) : value
  if (Array.isArray(value)) return value.map((one) => nameIn(key, one, people))
  return value === null || typeof value !== 'object' ? value : nameInFacts(value, people)
}

const nameInFacts = (facts: Readonly<Record<string, FactValue>>, people: People) =>
  Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, nameIn(key, value, people)]))

/** An item as a document with names shows it: the pack itself, and what is signed, has ids only. */
export const nameInItem = (item: EvidenceItem, people: People): EvidenceItem =>
  people.size === 0 ? item : { ...item, facts: nameInFacts(item.facts, people) }
