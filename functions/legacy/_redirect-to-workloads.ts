import { problem, type Reply } from '../../runtime/reply.ts'

/** Redirect to the same path under `/api/workloads`. A path that could lead to another host is refused. */
export function redirectToWorkloads(target: { path: string; query: string }): Reply {
  let decoded: string
  try {
    decoded = decodeURIComponent(target.path)
  } catch {
    return problem('invalid-path')
  }
  if (!decoded.startsWith('/') || /^\/[/\\]/.test(decoded) || /[\r\n]/.test(decoded))
    return problem('invalid-path')
  const path = target.path.replace('/api/agents', '/api/workloads')
  const query = target.query === '' ? '' : `?${target.query}`
  return { status: 307, headers: { Location: `${path}${query}` }, body: null }
}
