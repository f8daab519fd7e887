import { sayTrouble, TROUBLE_WORDS } from '../../../lib/model/trouble-words.ts'
import type { WorkloadTrouble } from '../../../lib/wire/workloads.ts'
import { nameOfPart } from '../logic/health.ts'
import { describeUnreached, describeWhy } from './causes.ts'
import { defineTexts, say } from './define.ts'
import { formatNumber } from './format.ts'
import { sayPart } from './parts.ts'
import { kindTexts } from './trouble-kinds.ts'

const n = formatNumber

const troubleTexts = defineTexts({
  en: {
    ...TROUBLE_WORDS,
    because: (what: string, why: string) => `${what}: ${why}`,
  },
  fr: {
    disconnected: 'aucune instance connectée',
    unhealthy: (count: number, total: number) => `${n(count)} sur ${n(total)} en défaut`,
    unhealthySince: (count: number, total: number, hash: string, since: number) =>
      `${n(count)} sur ${n(total)} en défaut${since < count ? `, dont ${n(since)}` : ''} depuis ${hash}`,
    push_failed: 'config échouée, sans retour',
    rollback_failed: 'config échouée, retour aussi',
    back_in_part: (count: number, total: number) => `config échouée, retour sur ${n(count)}/${n(total)}`,
    going_back: 'config échouée, retour en cours',
    rollout_halted: 'déploiement arrêté',
    rolled_back: 'config échouée, retour en arrière fait',
    some_failed: (count: number, total: number) => `config échouée sur ${n(count)} de ${n(total)}`,
    drifted: (count: number, total: number) => `${n(count)} sur ${n(total)} sans la config assignée`,
    altered: (count: number, total: number) =>
      `${n(count)} sur ${n(total)} exécute${count === 1 ? '' : 'nt'} une autre config que demandé`,
    degraded: 'signale que quelque chose ne va pas',
    leaving: 'sa dernière instance est partie',
    outdated: 'sa version est trop ancienne',
    because: (what: string, why: string) => `${what} : ${why}`,
  },
})

/** Why that is so: the part that complains, and its error; empty where it is not known. */
export function describeReason(
  trouble: Pick<WorkloadTrouble, 'component'> & Parameters<typeof describeWhy>[0],
): string {
  const { component, error_parameters: about } = trouble
  const part = component ? sayPart(nameOfPart(component)) : ''
  // A host that is named says already that it cannot be reached; where there is little room it comes first.
  const host = describeUnreached(about)
  return host === ''
    ? because(part, describeWhy(trouble))
    : [host, part].filter((text) => text !== '').join(' · ')
}

/** What is so and why, as far as either is known. */
const because = (what: string, why: string): string =>
  what === '' || why === '' ? what + why : say(troubleTexts).because(what, why)

/** What is wrong with a workload, in a few words, and why. */
export const describeWithReason = (trouble: WorkloadTrouble): string =>
  because(describeKind(trouble), describeReason(trouble))

/** How many instances are unhealthy besides what happened to a config; empty where none is. */
export const describeBeside = ({
  unhealthy_count: count = 0,
  instance_count: total = 0,
}: WorkloadTrouble): string => (count > 0 ? say(troubleTexts).unhealthy(count, total) : '')

/** What is wrong with a workload, in a few words; how many are unhealthy beside that comes after it. */
export const describeTrouble = (trouble: WorkloadTrouble): string =>
  [describeKind(trouble), describeBeside(trouble)].filter((part) => part !== '').join(' · ')

/** The same without how many are unhealthy beside. */
export const describeKind = (trouble: WorkloadTrouble): string => sayTrouble(say(troubleTexts), trouble)

/** What several workloads are in trouble for alike: why, where that is known, and what became of their config. */
export function describeShared(trouble: WorkloadTrouble): string {
  const { kind, error_parameters: about } = trouble
  const why = describeUnreached(about) || describeWhy(trouble)
  const isOfHealth = kind === 'unhealthy' || kind === 'some_unhealthy'
  return isOfHealth && why !== '' ? why : because(say(kindTexts).kind[kind], why)
}
