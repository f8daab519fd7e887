import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'

// Every function that may change what collectors run, with the reason why nobody can get around the approval policy by
// it. A function that is missing here fails the tests below.
const RULES: Readonly<Record<string, string>> = {
  'approvals/push': 'approved under the policy, counted again; or with the glass broken, by a person',
  'auto-apply/approve':
    'approved by a person under the policy, counted again; with enough approvals it applies',
  'auto-apply/continue': 'goes on with what was approved, if that still holds',
  'auto-apply/pause': 'stops what was approved',
  'auto-apply/plan': 'changes nothing that runs',
  'auto-apply/reject': 'ends a request',
  'auto-apply/request': 'asks for an approval',
  'auto-apply/turn-off': 'stops what was approved',
  'auto-apply/withdraw': 'ends a request, by a token its own',
  'campaigns/abort': 'stops what was approved',
  'campaigns/approve': 'approves what somebody has to start, by a person under the policy',
  'campaigns/comment': 'decides nothing',
  'campaigns/continue': 'goes on with what was approved',
  'campaigns/create': 'writes a draft of a campaign',
  'campaigns/edit': 'changes a draft that nobody was asked to approve',
  'campaigns/pause': 'stops what was approved',
  'campaigns/plan': 'changes nothing that runs',
  'campaigns/reject': 'ends a request',
  'campaigns/remove': 'removes a draft that nobody was asked to approve',
  'campaigns/request': 'asks for an approval',
  'campaigns/roll-back': 'back to what ran and was approved there',
  'campaigns/start': 'approved under the policy, counted again',
  'campaigns/withdraw': 'ends a request, by a token its own',
  'desired/apply-fleet': 'adds a version and a draft of a campaign, pushes nothing',
  'desired/release': 'changes nothing that runs',
  'desired/release-fleet': 'changes nothing that runs',
  'holds/create': 'keeps campaigns away, pushes nothing',
  'holds/release': 'lets campaigns in again, which were approved under the policy',
  'known-good/clear': 'pushes nothing; what it leaves to roll back to has run here',
  'known-good/mark': 'only what was approved and applied here',
  'pushes/preview': 'changes nothing',
  'rollback/to-default': 'only what was approved and applied here',
  'rollback/to-hash': 'only what was approved and applied here',
  'rollouts/abort': 'stops what was approved',
  'rollouts/continue': 'goes on with what was approved, counted again; or with the glass broken, by a person',
  'rollouts/roll-back': 'back to what ran and was approved here',
  'rollouts/start': 'approved under the policy, counted again',
  'workloads/direct-push': 'always refused',
  'workloads/hold': 'keeps campaigns away, pushes nothing',
  'workloads/label': 'names a revision, pushes nothing',
  'workloads/release': 'lets campaigns in again, which were approved under the policy',
}

// A function may change what runs by whom it asks: it has the fleet push, moves a rollout, or tells the engines of
// campaigns and of what applies by itself that something was decided, which they then carry out. Or it says so by its
// permission.
const EFFECT =
  /\bfleet\.(push|pushTogether|rollouts)\b|\b(campaigns|autoApply)\.decided\(|\b(campaigns|autoApply)\.engine\b/
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const IMPORT = /^import (?!type\b)[^'"]*?from '(\.[^']+)'/gms

/** Whether a file, or one below `functions` or `lib` that it imports, asks for something that changes what runs. */
function isEffective(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file) || !/^(functions|lib)\//.test(relative(ROOT, file)) || !existsSync(file)) return false
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  if (EFFECT.test(text)) return true
  return [...text.matchAll(IMPORT)].some(([, path]) => isEffective(join(dirname(file), path!), seen))
}

it('whatever changes what runs stands in one list with its rule, by what it does and by its permission', () => {
  const changing = loadFunctions(FUNCTIONS).http.filter(({ id, definition: { route, access } }) => {
    if (access.kind !== 'signed-in' || route.startsWith('GET ')) return false
    return access.permission === 'workload:push_config' || isEffective(join(ROOT, 'functions', `${id}.ts`))
  })
  expect(changing.map(({ id }) => id).sort()).toEqual(Object.keys(RULES))
})

it('only what asks, and changes nothing that runs, needs no right to push or approve', () => {
  const listed = loadFunctions(FUNCTIONS).http.filter(({ id }) => id in RULES)
  const weaker = listed.filter(
    ({ definition: { access } }) =>
      access.kind === 'public' ||
      (access.permission !== 'workload:push_config' && access.permission !== 'config:approve'),
  )
  expect(weaker.map(({ id }) => id)).toEqual([
    'auto-apply/plan',
    'auto-apply/request',
    'auto-apply/withdraw',
    'campaigns/comment',
    'campaigns/create',
    'campaigns/edit',
    'campaigns/plan',
    'campaigns/remove',
    'campaigns/request',
    'campaigns/withdraw',
    'desired/apply-fleet',
  ])
})
