// `npm run routes`: every function of the service, what it answers to, and who may call it.
import type { Access } from '../define.ts'
import { loadFunctions } from '../loader.ts'
import { FUNCTIONS } from '../manifest.generated.ts'

const describeAccess = (access: Access | { kind: 'shared-secret' }): string => {
  if (access.kind === 'signed-in') return access.permission ?? 'signed in'
  return access.kind === 'public' ? `public: ${access.reason}` : 'shared secret'
}

const { http, sockets, schedules, opampPosts } = loadFunctions(FUNCTIONS)
const rows: string[][] = [
  ...http.map(({ id, definition }) => [
    definition.route,
    describeAccess(definition.access),
    definition.gate ?? '',
    id,
  ]),
  ...sockets.map(({ id, definition }) => [
    `WS ${definition.path} (${definition.listener})`,
    describeAccess(definition.access),
    '',
    id,
  ]),
  ...opampPosts.map(({ id, definition }) => [`POST ${definition.path} (opamp)`, 'shared secret', '', id]),
  ...schedules.map(({ id }) => ['schedule', '', '', id]),
]
const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
for (const row of rows)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
