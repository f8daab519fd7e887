import { expect, it } from 'vitest'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'

// Every function that may change what collectors run, with the reason why nobody can get around the approval policy by
// it. A function that is missing here fails the test below.
const RULES: Readonly<Record<string, string>> = {
  'approvals/push': 'approved under the policy, counted again; or with the glass broken, by a person',
  'auto-apply/continue': 'goes on with what was approved, if that still holds',
  'auto-apply/pause': 'stops what was approved',
  'auto-apply/plan': 'changes nothing that runs',
  'auto-apply/request': 'asks for an approval',
  'auto-apply/turn-off': 'stops what was approved',
  'auto-apply/withdraw': 'ends a request',
  'campaigns/abort': 'stops what was approved',
  'campaigns/continue': 'goes on with what was approved',
  'campaigns/create': 'writes a draft of a campaign',
  'campaigns/edit': 'changes a draft that nobody was asked to approve',
  'campaigns/match': 'changes nothing',
  'campaigns/pause': 'stops what was approved',
  'campaigns/plan': 'changes nothing that runs',
  'campaigns/request': 'asks for an approval',
  'campaigns/roll-back': 'back to what ran there',
  'campaigns/start': 'approved under the policy, counted again',
  'campaigns/withdraw': 'ends a request',
  'desired/apply': 'makes requests, pushes nothing',
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
  'rollouts/continue': 'goes on with what was approved',
  'rollouts/roll-back': 'back to what ran here',
  'rollouts/start': 'approved under the policy, counted again',
  'workloads/direct-push': 'always refused',
  'workloads/hold': 'keeps campaigns away, pushes nothing',
  'workloads/label': 'names a revision, pushes nothing',
  'workloads/release': 'lets campaigns in again, which were approved under the policy',
}

it('whatever changes what runs stands in one list with its rule', () => {
  const pushing = loadFunctions(FUNCTIONS).http.filter(
    ({ definition: { route, access } }) =>
      access.kind === 'signed-in' &&
      access.permission === 'workload:push_config' &&
      !route.startsWith('GET '),
  )
  expect(pushing.map(({ id }) => id).sort()).toEqual(Object.keys(RULES))
})
