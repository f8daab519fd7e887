import type { AuditEventRecord } from '../../../lib/wire/audit.ts'
import type { CampaignHalt } from '../../../lib/wire/campaigns.ts'
import type { FactValue } from '../../../lib/wire/reports.ts'
import { describeKeptPolicy } from './approval-policy.ts'
import { describeHalt } from './campaign-sentences.ts'
import { campaignTexts } from './campaigns.ts'
import { defineTexts, say } from './define.ts'
import { formatNumber } from './format.ts'
import { describeFact } from './report-items.ts'
import { settingsTexts } from './settings.ts'

/** Texts of the audit log. */
export const auditTexts = defineTexts({
  en: {
    title: 'Audit',
    exportCsv: 'Export CSV',
    verify: 'Verify the chain',
    verifying: 'Verifying…',
    intact: (count: number, seq: string) =>
      `The chain is intact: ${formatNumber(count)} events up to number ${seq}.`,
    broken: (seq: string) => `The chain is broken at number ${seq}. Somebody changed or removed events.`,
    person: 'Person',
    action: 'Action',
    workload: 'Workload',
    hint: {
      person: 'a part of the e-mail',
      action: 'as “push”, or its code',
      workload: 'name or id',
    },
    signIns: 'Sign-ins only',
    zone: (zone: string) => `Times are in your time zone, ${zone}; the exported file has them in UTC.`,
    raw: 'As JSON',
    itself: 'muster, by itself',
    /** English words that are missing here are the kinds, with blanks for underscores. */
    resources: {
      service_account: 'service account',
      fleet_config: 'fleet config',
      push_group: 'push group',
    } as Record<string, string>,
    /** English labels that are missing here are the keys, with blanks for underscores. */
    field: {
      applied_count: 'applied',
      approval_id: 'request',
      commit_author: 'written by',
      commit_authors: 'the commit names',
      commit_authors_left_out: 'more whom it names',
      commit_sha: 'commit',
      failed_count: 'failed',
      groups: 'roles',
      no_status_count: 'no answer',
      owner: 'kept by',
      plan_hash: 'plan',
      started_count: 'started',
      waiting_count: 'waiting',
      wave_count: 'workloads in the wave',
      workload_count: 'workloads',
    } as Record<string, string>,
    from: 'From',
    to: 'Until',
    none: 'No event fits.',
    away: 'This server keeps no audit log that can be read.',
    shown: (first: number, last: number, total: number) =>
      `${formatNumber(first)}–${formatNumber(last)} of ${formatNumber(total)}`,
    newer: 'Newer',
    older: 'Older',
    column: { when: 'When', who: 'Who', action: 'Action', what: 'On', detail: 'Detail', hash: 'Hash' },
  },
  fr: {
    title: 'Audit',
    exportCsv: 'Exporter en CSV',
    verify: 'Vérifier la chaîne',
    verifying: 'Vérification…',
    intact: (count: number, seq: string) =>
      `La chaîne est intacte : ${formatNumber(count)} événements jusqu’au numéro ${seq}.`,
    broken: (seq: string) =>
      `La chaîne est rompue au numéro ${seq}. Quelqu’un a modifié ou retiré des événements.`,
    person: 'Personne',
    action: 'Action',
    workload: 'Workload',
    hint: {
      person: 'une partie du courriel',
      action: 'comme « poussée », ou son code',
      workload: 'nom ou identifiant',
    },
    signIns: 'Connexions seules',
    zone: (zone: string) =>
      `Les heures sont dans votre fuseau, ${zone} ; le fichier exporté les donne en UTC.`,
    raw: 'En JSON',
    itself: 'muster, de lui-même',
    resources: {
      user: 'utilisateur',
      service_account: 'compte de service',
      campaign: 'campagne',
      fleet_config: 'config de parc',
      group: 'groupe',
      push_group: 'groupe de poussée',
      label_rule: 'règle d’étiquettes',
      auto_apply: 'application automatique',
      alert: 'alerte',
      settings: 'réglages',
      token: 'jeton',
      report: 'rapport',
      config: 'config',
    },
    field: {
      blocked_rules: 'règles qui bloquent',
      changed: 'changé',
      comment: 'commentaire',
      commit_author: 'écrit par',
      commit_authors: 'le commit nomme',
      commit_authors_left_out: 'autres qu’il nomme',
      commit_sha: 'commit',
      current_hash: 'config d’avant',
      current_known_good: 'épinglée jusque-là',
      decision: 'décision',
      accepted: 'acceptée',
      done_by: 'fait par',
      kind: 'genre',
      review_id: 'relecture',
      detail: 'détail',
      email: 'courriel',
      environment: 'environnement',
      failed_hash: 'config échouée',
      failed_push_id: 'poussée échouée',
      force: 'forcé',
      format: 'format',
      groups: 'rôles',
      if_current_known_good: 'si épinglée',
      name: 'nom',
      number: 'version',
      owner: 'tenu par',
      newer_approval_id: 'demande plus récente',
      policy_rules: 'règles touchées',
      previous_known_good: 'épinglée avant',
      push_path: 'voie de la poussée',
      reason: 'raison',
      replace_reason: 'raison du remplacement',
      replaced_config_id: 'config remplacée',
      report_type: 'genre de rapport',
      request_id: 'demande',
      result: 'résultat',
      retired_by: 'dépassée par',
      rollout_id: 'déploiement',
      selector: 'sélecteur',
      severity: 'gravité',
      side_effect: 'effet',
      source_applied_at: 'appliquée le',
      stage: 'étape',
      target_hash: 'config cible',
      workloads: 'collecteurs',
    },
    from: 'Du',
    to: 'Au',
    none: 'Aucun événement ne correspond.',
    away: 'Ce serveur ne tient pas de journal d’audit lisible.',
    shown: (first: number, last: number, total: number) =>
      `${formatNumber(first)}–${formatNumber(last)} sur ${formatNumber(total)}`,
    newer: 'Plus récents',
    older: 'Plus anciens',
    column: { when: 'Quand', who: 'Qui', action: 'Action', what: 'Sur', detail: 'Détail', hash: 'Empreinte' },
  },
})

/** What a field of an event's detail is called. */
export const describeDetailField = (key: string): string => say(auditTexts).field[key] ?? describeFact(key)

/** Who did it; only somebody who failed to sign in is unknown, all else without a person the service did by itself. */
export const describeWho = ({ email, action }: Pick<AuditEventRecord, 'email' | 'action'>): string =>
  email ?? (action.startsWith('auth.') ? '–' : say(auditTexts).itself)

/** What a field says that has words of its own: roles, an approval policy, and why a campaign halted; null for any other. */
export function describeOwnDetail(key: string, value: FactValue): string | null {
  if (key === 'groups' && Array.isArray(value)) {
    const { role } = say(settingsTexts)
    return value.map((name) => role[String(name)] ?? String(name)).join(', ')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return key === 'halt' ? describeHaltDetail(value) : describeKeptPolicy(value)
}

/** Why a campaign halted, in the sentences of its page; null for a value that is no halt, or one that this page does not know. */
function describeHaltDetail(value: object): string | null {
  const halt = { workloads: [], approvers: [], ...value } as unknown as CampaignHalt
  if (!(halt.gate in say(campaignTexts).halt)) return null
  // Details count waves from 1 by now.
  return describeHalt({ ...halt, wave: halt.wave - 1 }).join(' ')
}
