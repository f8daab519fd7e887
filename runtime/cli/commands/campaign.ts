import { LIMITED } from '../../../lib/model/campaign-rules.ts'
import { toStepBody } from '../../../lib/model/campaign-steps.ts'
import type { CampaignGroup, CampaignLimits, CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { readSeconds } from '../arguments.ts'
import { printCampaign, printCampaigns, printGroups, printGroupsLeft } from '../campaigns/print.ts'
import { CAMPAIGN_ACTIONS, type CampaignAction, exitCodeOf, isUnderWay } from '../campaigns/standing.ts'
import { beginPlan, waitForCampaign } from '../campaigns/wait.ts'
import type { Arguments, ClientCommandSpec, ClientIo } from '../command.ts'
import { CommandFailure, EXIT, WrongArguments } from '../exit-codes.ts'
import { OUTPUT_OPTION, printJson } from '../output.ts'
import { type Api, openApi, ServiceRefusal, URL_OPTION } from '../server/api.ts'

const WAIT_SECONDS_DEFAULT = 600
const WAIT_SECONDS_MAX = 86_400

/** `muster campaign`: one change of many workloads, from its plan to its end. */
export const campaign: ClientCommandSpec = {
  usage: `${CAMPAIGN_ACTIONS.join('|')} [CAMPAIGN]`,
  summary: 'Plan and carry out one change of many workloads, or say how far it is.',
  details: `CAMPAIGN is an id, or a name that only one has. A plan is waited for and shown; a request asks for the plan as it
is now, or for the one of --plan. Approving and rejecting need a person: a token is refused, and told where to do it.
With --wait it ends when nothing goes on by itself any more: with 0 where the campaign is where the
action leads to, every workload with it; with 4 where it is not (it halted, some failed, or time is up); a request waits
for its approval, and ends with 3 where it was rejected.`,
  positionals: { min: 1, max: 2 },
  words: CAMPAIGN_ACTIONS,
  options: [
    URL_OPTION,
    OUTPUT_OPTION,
    { name: '--comment', value: 'TEXT', says: 'what is said to it' },
    { name: '--plan', value: 'HASH', says: 'of request and approve: the plan that was looked at' },
    { name: '--production', says: 'of request: yes, production is among them' },
    {
      name: '--raise',
      value: 'LIMIT=NUMBER',
      isRepeated: true,
      says: `of continue: how many may be ${LIMITED.join(', ')}`,
    },
    { name: '--wait', says: 'wait until nothing goes on by itself' },
    { name: '--timeout', value: 'SECONDS', says: `wait so long at most (${WAIT_SECONDS_DEFAULT})` },
    { name: '--exit-code', says: 'end with 4 where it is not where the action leads to' },
  ],
  async run(args, io) {
    const [word = '', named] = args.positionals
    const action = CAMPAIGN_ACTIONS.find((known) => known === word)
    if (action === undefined)
      throw new WrongArguments(`there are ${CAMPAIGN_ACTIONS.join(', ')}, found "${word}"`)
    if ((action === 'list') !== (named === undefined))
      throw new WrongArguments(
        named === undefined ? `${action} which campaign?` : `Unknown argument "${named}"`,
      )
    const seconds = readSeconds(args, 'timeout', WAIT_SECONDS_DEFAULT, WAIT_SECONDS_MAX)
    const raised = readRaised(args)
    const api = await openApi(args, io)
    if (action === 'list') return list(api, args, io)
    const found = await findCampaign(api, named!)
    let record = await act(api, found, action, { args, raised, seconds })
    if (args.isSet('wait') || action === 'plan')
      record = await waitForCampaign(api, record, (now) => isUnderWay(now, action), seconds)
    if (args.text('output') === 'json') printJson(io, record)
    else await print(api, record, action, io)
    const isAsked = args.isSet('wait') || args.isSet('exit-code')
    return isAsked ? exitCodeOf(record, action) : EXIT.done
  },
}

function readRaised(args: Arguments): CampaignLimits {
  const raised: CampaignLimits = {}
  for (const text of args.all('raise')) {
    const [name, number = ''] = text.split('=')
    const limit = LIMITED.find((known) => known === name)
    if (limit === undefined || !/^\d{1,6}$/.test(number))
      throw new WrongArguments(`--raise must be ${LIMITED.join('=N, ')}=N, found "${text}"`)
    raised[limit] = Number(number)
  }
  return raised
}

async function list(api: Api, args: Arguments, io: ClientIo): Promise<number> {
  const campaigns = await api.get<CampaignRecord[]>('/api/campaigns')
  if (args.text('output') === 'json') printJson(io, campaigns)
  else printCampaigns(io, campaigns)
  return EXIT.done
}

async function findCampaign(api: Api, named: string): Promise<CampaignRecord> {
  const all = await api.get<CampaignRecord[]>('/api/campaigns')
  const found = all.filter(({ id }) => id === named)
  const byName = found.length > 0 ? found : all.filter(({ name }) => name === named)
  if (byName.length === 0) throw new CommandFailure(`no campaign is called "${named}"`)
  if (byName.length > 1)
    throw new CommandFailure(`${byName.length} campaigns are called "${named}": say the id`)
  return byName[0]!
}

/** Carry out an action; resolves with the campaign as it is afterwards. */
async function act(
  api: Api,
  { id, plan_hash: hash }: CampaignRecord,
  action: Exclude<CampaignAction, 'list'>,
  { args, raised, seconds }: { args: Arguments; raised: CampaignLimits; seconds: number },
): Promise<CampaignRecord> {
  const base = `/api/campaigns/${id}`
  if (action === 'get') return api.get(base)
  if (action === 'plan') return beginPlan(api, id, seconds)
  const body = toStepBody(action, {
    comment: args.text('comment') ?? '',
    plan_hash: args.text('plan') ?? hash ?? '',
    prod_confirmation: args.isSet('production'),
    limits: raised,
  })
  try {
    return await api.post(`${base}/${action}`, body)
  } catch (error) {
    if (!(error instanceof ServiceRefusal) || error.code !== 'session_required') throw error
    throw new CommandFailure(
      `${error.message}\n  the campaign is at ${api.url}/campaigns/${id}`,
      error.exitCode,
    )
  }
}

async function print(api: Api, record: CampaignRecord, action: CampaignAction, io: ClientIo): Promise<void> {
  printCampaign(io, record)
  if (action !== 'plan' || record.plan === undefined) return
  try {
    const groups = await api.get<CampaignGroup[]>(`/api/campaigns/${record.id}/groups`)
    printGroups(io, groups)
    const shown = groups.reduce((sum, { count }) => sum + count, 0)
    printGroupsLeft(io, record.plan.target_count - shown, `${api.url}/campaigns/${record.id}`)
  } catch (error) {
    // Only some may read how configs change; without them the plan is shown in numbers alone.
    if (!(error instanceof ServiceRefusal) || error.code !== undefined) throw error
  }
}
