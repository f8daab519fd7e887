import { defineTexts } from './define.ts'

/** Texts that tell how a collector is connected. */
export const connectTexts = defineTexts({
  en: {
    title: 'Connect a collector',
    way: 'How it runs',
    ways: {
      supervisor: 'Supervisor',
      kubernetes: 'Kubernetes',
      windows: 'Windows',
      extension: 'OpAMP extension',
    },
    about: {
      supervisor: 'Managed: the OpAMP supervisor runs the collector and applies the configs you push.',
      kubernetes:
        'Managed: the supervisor runs in each pod, and the pods of the deployment are one workload here.',
      windows: 'Managed: the supervisor runs as a Windows service and applies the configs you push.',
      extension: 'Read-only: the collector’s own opamp extension reports, but takes no configs.',
    },
    file: 'The file',
    address: 'Address of this service for collectors',
    addressFrom: {
      agent_url: 'As MUSTER_OPAMP_PUBLIC_URL says.',
      public_url:
        'The host of MUSTER_PUBLIC_URL, the port of OPAMP_ADDR. Where a proxy stands in front, set MUSTER_OPAMP_PUBLIC_URL.',
      request:
        'The host of this page, the port of OPAMP_ADDR. Change it where collectors reach it by another way.',
    },
    fill: 'Fill in the credential',
    fillMore: 'The audit log notes that you saw it.',
    filled: 'The credential is filled in: keep the file to yourself.',
    ask: 'Collectors need the credential OPAMP_SHARED_SECRET. Ask somebody who manages the settings for it.',
    open: 'No credential is needed: OPAMP_SHARED_SECRET is not set.',
    waiting: 'Waiting for a new connection…',
    came: (instance: string) =>
      instance === '' ? 'A new workload has connected:' : `${instance} has connected:`,
    again: 'Wait for another one',
  },
  fr: {
    title: 'Connecter un collecteur',
    way: 'Comment il tourne',
    ways: {
      supervisor: 'Superviseur',
      kubernetes: 'Kubernetes',
      windows: 'Windows',
      extension: 'Extension OpAMP',
    },
    about: {
      supervisor: 'Géré : le superviseur OpAMP lance le collecteur et applique les configs poussées.',
      kubernetes:
        'Géré : le superviseur tourne dans chaque pod, et les pods du déploiement sont ici un seul workload.',
      windows: 'Géré : le superviseur tourne en service Windows et applique les configs poussées.',
      extension: 'Lecture seule : l’extension opamp du collecteur rend compte, mais ne prend pas de config.',
    },
    file: 'Le fichier',
    address: 'Adresse de ce service pour les collecteurs',
    addressFrom: {
      agent_url: 'Comme le dit MUSTER_OPAMP_PUBLIC_URL.',
      public_url:
        'L’hôte de MUSTER_PUBLIC_URL, le port de OPAMP_ADDR. Si un mandataire est devant, réglez MUSTER_OPAMP_PUBLIC_URL.',
      request:
        'L’hôte de cette page, le port de OPAMP_ADDR. À changer si les collecteurs passent par un autre chemin.',
    },
    fill: 'Remplir le secret',
    fillMore: 'Le journal d’audit note que vous l’avez vu.',
    filled: 'Le secret est dans le fichier : gardez-le pour vous.',
    ask: 'Les collecteurs ont besoin du secret OPAMP_SHARED_SECRET. Demandez-le à qui gère les réglages.',
    open: 'Aucun secret n’est nécessaire : OPAMP_SHARED_SECRET n’est pas défini.',
    waiting: 'En attente d’une nouvelle connexion…',
    came: (instance: string) =>
      instance === '' ? 'Un nouveau workload s’est connecté :' : `${instance} s’est connecté :`,
    again: 'En attendre un autre',
  },
})
