import type { ClientCommandSpec } from '../command.ts'
import { DESIRED_OPTIONS, runDesired } from '../desired/run.ts'

/** `muster apply`: ask for what a folder of configs holds. */
export const apply: ClientCommandSpec = {
  usage: 'FOLDER --owner NAME [--prune [--empty]] [--again]',
  summary: 'Request what a folder of configs holds, where it differs from what is active.',
  details: `People approve and push the requests. A second run does what the first did, and nothing more, but for what waited
for a rollout to end. What was rejected,
failed or was replaced since is held until its text changes, or with --again. A document that is refused, or means no
workload for sure, keeps no other from being requested; the command then ends with 3. A folder without a document ends
it with 1, unless --prune --empty say that it is meant.`,
  positionals: { min: 1, max: 1 },
  options: [
    ...DESIRED_OPTIONS,
    { name: '--prune', says: 'leave what the folder holds no longer to people again; it runs on' },
    { name: '--commit', value: 'SHA', says: 'the commit; else of the pipeline, or as Git says' },
    { name: '--author', value: 'NAME', says: 'whoever made the commit; likewise' },
  ],
  run: (args, io) => runDesired(args, io, false),
}
