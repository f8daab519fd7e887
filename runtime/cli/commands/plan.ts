import type { ClientCommandSpec } from '../command.ts'
import { DESIRED_OPTIONS, runDesired } from '../desired/run.ts'

/** `muster plan`: what a folder of configs would change. */
export const plan: ClientCommandSpec = {
  usage: 'FOLDER --owner NAME',
  summary: 'Say what a folder of configs would change; nothing is changed.',
  details: `The YAML files of FOLDER hold documents of apiVersion muster/v1. One of kind WorkloadConfig has a workload (its
id, or labels that only one has) and a config, as text or as the path of a file (configFile); one of kind FleetConfig a
name, a config likewise, and which workloads come under it.`,
  positionals: { min: 1, max: 1 },
  options: DESIRED_OPTIONS,
  run: (args, io) => runDesired(args, io, true),
}
