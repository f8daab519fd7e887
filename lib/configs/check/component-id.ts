const TYPE = /^[a-zA-Z][0-9a-zA-Z_]{0,62}$/
// Separators, control characters and symbols; the collector allows everything else in a name.
const NAME_FORBIDDEN = /[\p{Z}\p{C}\p{S}]/u
const NAME_LENGTH_MAX = 1_024

/**
 * Why a text is no `type` or `type/name` id; null when it is one. Rules of the collector (component/identifiable.go).
 */
export function idProblem(id: string): string | null {
  return checkParts(id, (type) => (TYPE.test(type) ? null : 'its type has invalid characters'))
}

/** The part of a pipeline id that names its signal (known or not), or why the id is not valid. */
export function pipelineSignal(id: string): { signal: string } | { problem: string } {
  const problem = checkParts(id, () => null)
  if (problem !== null) return { problem }
  const slash = id.indexOf('/')
  return { signal: (slash === -1 ? id : id.slice(0, slash)).trim() }
}

function checkParts(id: string, checkType: (type: string) => string | null): string | null {
  const slash = id.indexOf('/')
  const type = (slash === -1 ? id : id.slice(0, slash)).trim()
  if (type === '') return slash === -1 ? 'it is empty' : 'the part before "/" is empty'
  const problem = checkType(type)
  if (problem !== null || slash === -1) return problem
  const name = id.slice(slash + 1).trim()
  if (name === '') return 'the part after "/" is empty'
  if (name.length > NAME_LENGTH_MAX) return `its name is longer than ${NAME_LENGTH_MAX} characters`
  return NAME_FORBIDDEN.test(name) ? 'its name has invalid characters' : null
}
