package secrets

import (
	"cmp"
	"regexp"
	"sort"
	"strings"
	"sync"

	"github.com/reviewgate/reviewgate/pipeline/internal/lazy"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// format describes one kind of a provider's tokens. Unlike gitleaks' rules it ignores the text
// around a token, so that adjacent letters hide nothing.
//
// To add a format, add a row to formats with the prefix that all such tokens share and what follows
// it. Add an example to formats_test.go, as a template that the test fills with random characters.
// If gitleaks has a rule for the same token, use its id: a value that both find is reported once.
type format struct {
	id string
	// prefix is a literal. Only text after it is checked.
	prefix string
	// rest is the expression for what follows. If the secret is only a part of the match, it is a
	// group.
	rest string
	// apart is set if the prefix is so short that it occurs within words. No letter or digit may
	// come before it, except those that can begin a format string.
	apart bool
	// alone is set if the prefix is also the end of names: no underscore may come before it either.
	alone bool
	// fold is set if the prefix also counts in capitals.
	fold bool
	// before is an expression for the least to back bytes before the prefix, for the few formats
	// with their mark in the middle. If least is 0, it is back.
	before      string
	least, back int
	// parts makes jwtAt match a token of three parts, which reads each part once.
	parts bool
}

const (
	word   = `[A-Za-z0-9]`
	urlish = `[A-Za-z0-9_-]`
	b64    = `[A-Za-z0-9+/]`
	low    = `[a-f0-9]`
	// A URL may name its port, and repeat a slash.
	port      = `(?::[0-9]{1,5})?`
	slackHost = `(?i:hooks\.slack(?:-gov)?\.com)` + port + `/{0,3}`

	// isSetTo matches the text between a name and its value in the settings of programs, shells and
	// containers. The value may be on a line of its own.
	isSetTo = "[\"'`]?\\]?(?:,?\\s{1,80}[\"']?value[\"']?)?[ \\t]*(?:=>|:=|:-|\\?\\?|\\|\\||[=:,>]|[ \\t])[ \\t]*[\"'`]?"

	uuid = low + `{8}-` + low + `{4}-` + low + `{4}-` + low + `{4}-` + low + `{12}`
)

// formats are those that providers publish. A format that gitleaks also has is here if gitleaks'
// rule needs a boundary or a word elsewhere.
var formats = []format{
	// GitHub. Since 2026 installation tokens are ghs_APPID_JWT, 377 to 520 characters
	// long; https://docs.github.com/authentication names the prefixes.
	{id: "github-pat", prefix: "ghp_", rest: `[A-Za-z0-9._-]{36,}`},
	{id: "github-oauth", prefix: "gho_", rest: `[A-Za-z0-9._-]{36,}`},
	{id: "github-app-token", prefix: "ghu_", rest: `[A-Za-z0-9._-]{36,}`},
	{id: "github-app-token", prefix: "ghs_", rest: `[A-Za-z0-9._-]{36,}`},
	{id: "github-refresh-token", prefix: "ghr_", rest: `[A-Za-z0-9._-]{36,}`},
	{id: "github-fine-grained-pat", prefix: "github_pat_", rest: `\w{36,}`},

	{id: "gitlab-pat", prefix: "glpat-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-deploy-token", prefix: "gldt-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-runner-authentication-token", prefix: "glrt-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-runner-authentication-token", prefix: "glrtr-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-cicd-job-token", prefix: "glcbt-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-scim-token", prefix: "glsoat-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-feed-token", prefix: "glft-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-incoming-mail-token", prefix: "glimt-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-kubernetes-agent-token", prefix: "glagent-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-oauth-app-secret", prefix: "gloas-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-ptt", prefix: "glptt-", rest: `[\w.=-]{20,}`},
	{id: "gitlab-workspace-token", prefix: "glwt-", rest: `[\w.=-]{20,}`},
	{id: "bitbucket-app-password", prefix: "ATBB", rest: word + `{32}`, apart: true},
	{id: "atlassian-api-token", prefix: "ATATT3", rest: `[A-Za-z0-9_=-]{60,}`},
	{id: "atlassian-api-token", prefix: "ATCTT3", rest: `[A-Za-z0-9_=-]{60,}`},
	{id: "atlassian-api-token", prefix: "ATSTT3", rest: `[A-Za-z0-9_=-]{60,}`},
	{id: "trello-token", prefix: "ATTA", rest: low + `{64}[A-F0-9]{8}`, apart: true},

	{id: "slack-bot-token", prefix: "xoxb-", rest: `[0-9][A-Za-z0-9-]{20,}`},
	{id: "slack-user-token", prefix: "xoxp-", rest: `[0-9][A-Za-z0-9-]{20,}`},
	{id: "slack-legacy-workspace-token", prefix: "xoxa-", rest: `[0-9][A-Za-z0-9-]{20,}`},
	{id: "slack-legacy-workspace-token", prefix: "xoxr-", rest: `[0-9][A-Za-z0-9-]{20,}`},
	{id: "slack-legacy-token", prefix: "xoxs-", rest: `[0-9][A-Za-z0-9-]{20,}`},
	{id: "slack-legacy-token", prefix: "xoxo-", rest: `[0-9][A-Za-z0-9-]{20,}`},
	{id: "slack-config-refresh-token", prefix: "xoxe-", rest: `[0-9][A-Za-z0-9-]{20,}`},
	{id: "slack-config-access-token", prefix: "xoxe.xox", rest: `[bp]-[0-9]-[A-Za-z0-9]{60,}`},
	{id: "slack-browser-token", prefix: "xoxc-", rest: `[0-9][A-Za-z0-9-]{20,}`},
	{id: "slack-browser-cookie", prefix: "xoxd-", rest: `[A-Za-z0-9%+/_-]{40,}`},
	{id: "slack-app-token", prefix: "xapp-", rest: `[0-9]-[A-Za-z0-9-]{20,}`},
	{id: "slack-workflow-token", prefix: "xwfp-", rest: `[0-9A-Za-z-]{20,}`},
	// Host names are the same in capitals.
	{id: "slack-webhook-url", prefix: "/services/", before: slackHost, least: 15, back: 28, rest: `/{0,3}([A-Za-z0-9+/_-]{20,120})`},
	{id: "slack-webhook-url", prefix: "/workflows/", before: slackHost, least: 15, back: 28, rest: `/{0,3}([A-Za-z0-9+/_-]{20,120})`},
	{id: "slack-webhook-url", prefix: "/triggers/", before: slackHost, least: 15, back: 28, rest: `/{0,3}([A-Za-z0-9+/_-]{20,120})`},
	{id: "discord-webhook-url", prefix: "/webhooks/", before: `(?i:discord(?:app)?\.com)` + port + `/{1,3}api(?:/{1,3}v[0-9]{1,2})?/{0,2}`, least: 15, back: 34, rest: `/{0,3}([0-9]{17,20}/{1,3}[\w-]{60,80})`},
	{id: "telegram-bot-api-token", prefix: ":AA", rest: `[A-Za-z0-9_-]{33}`, before: `[0-9]{8,10}`, least: 8, back: 10},

	{id: "anthropic-api-key", prefix: "sk-ant-", rest: `[a-z]{3,10}[0-9]{2}-` + urlish + `{40,}`},
	{id: "openai-api-key", prefix: "sk-proj-", rest: urlish + `{40,}`},
	{id: "openai-api-key", prefix: "sk-svcacct-", rest: urlish + `{40,}`},
	{id: "openai-api-key", prefix: "sk-admin-", rest: urlish + `{40,}`},
	{id: "openai-api-key", prefix: "T3BlbkFJ", rest: word + `{20}`, before: `sk-` + word + `{20}`, back: 23},
	{id: "openai-api-key", prefix: "T3BlbkFJ", rest: word + `{20}`, before: `sk-` + urlish + `{20,77}`, least: 23, back: 80},
	{id: "openai-api-key", prefix: "sk-", rest: word + `{48}`, apart: true},
	{id: "deepseek-api-key", prefix: "sk-", rest: low + `{32}`, apart: true},
	{id: "helicone-api-key", prefix: "sk-helicone-", rest: `[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}`},
	{id: "openrouter-api-key", prefix: "sk-or-v1-", rest: low + `{64}`},
	{id: "langfuse-secret-key", prefix: "sk-lf-", rest: uuid},
	{id: "huggingface-access-token", prefix: "hf_", rest: word + `{34,40}`},
	{id: "huggingface-organization-api-token", prefix: "api_org_", rest: word + `{34}`},
	{id: "replicate-api-token", prefix: "r8_", rest: word + `{37}`},
	{id: "groq-api-key", prefix: "gsk_", rest: word + `{48,60}`},
	{id: "xai-api-key", prefix: "xai-", rest: word + `{70,90}`},
	{id: "perplexity-api-key", prefix: "pplx-", rest: word + `{40,60}`},
	{id: "pinecone-api-key", prefix: "pcsk_", rest: `\w{40,90}`},
	{id: "langsmith-api-key", prefix: "lsv2_", rest: `(?:pt|sk)_` + low + `{32}_` + low + `{8,12}`},
	{id: "tavily-api-key", prefix: "tvly-", rest: `[A-Za-z0-9-]{30,60}`},
	{id: "cerebras-api-key", prefix: "csk-", rest: `[a-z0-9]{48}`},
	{id: "nvidia-api-key", prefix: "nvapi-", rest: urlish + `{60,80}`},
	{id: "elevenlabs-api-key", prefix: "sk_", rest: low + `{48}`, apart: true},
	{id: "weights-and-biases-api-key", prefix: "wandb_v1_", rest: `\w{40,}`},
	{id: "together-api-key", prefix: "tgp_v1_", rest: urlish + `{40,60}`},
	{id: "voyage-api-key", prefix: "pa-", rest: urlish + `{43}`, apart: true},
	{id: "firecrawl-api-key", prefix: "fc-", rest: low + `{32}`, apart: true},
	{id: "jina-api-key", prefix: "jina_", rest: low + `{32}` + urlish + `{28}`},
	{id: "friendli-token", prefix: "flp_", rest: word + `{46}`},
	{id: "runpod-api-key", prefix: "rpa_", rest: `[A-Z0-9]{40}[a-z0-9]{2,6}`},
	{id: "cursor-api-key", prefix: "key_", rest: low + `{64}`, alone: true},
	{id: "e2b-api-key", prefix: "e2b_", rest: low + `{40}`},
	{id: "apify-api-token", prefix: "apify_api_", rest: word + `{36}`},
	{id: "val-town-token", prefix: "vtwn_", rest: word + `{27}`},

	// The console's files and many calls have the secret after the id, without its name.
	{id: "aws-access-token", prefix: "AKIA", rest: "[A-Z0-9]{16}[\"'`]?[ \t]*[,;:|\t][ \t]*[\"'`]?" + b64 + `{40}`},
	{id: "aws-access-token", prefix: "AKIA", rest: `[A-Z0-9]{16}`},
	{id: "aws-access-token", prefix: "ASIA", rest: "[A-Z0-9]{16}[\"'`]?[ \t]*[,;:|\t][ \t]*[\"'`]?" + b64 + `{40}`},
	{id: "aws-access-token", prefix: "ASIA", rest: `[A-Z0-9]{16}`},
	{id: "aws-access-token", prefix: "ABIA", rest: `[A-Z2-7]{16}`},
	{id: "aws-access-token", prefix: "ACCA", rest: `[A-Z2-7]{16}`},
	{id: "aws-amazon-bedrock-api-key-long-lived", prefix: "ABSK", rest: b64 + `{100,}`, apart: true},
	{id: "aws-amazon-bedrock-api-key-short-lived", prefix: "bedrock-api-key-", rest: `[A-Za-z0-9+/_-]{60,}={0,2}`},
	{id: "aws-session-token", prefix: "IQoJb3JpZ2luX2", rest: b64 + `{100,}`},
	{id: "aws-session-token", prefix: "FwoGZXIvYXdz", rest: b64 + `{100,}`},
	{id: "aws-session-token", prefix: "FQoGZXIvYXdz", rest: b64 + `{100,}`},
	{id: "aws-secret-key", prefix: "secret_access_key", rest: isSetTo + `(` + b64 + `{40,60}={0,2})`, fold: true},
	{id: "aws-secret-key", prefix: "secretaccesskey", rest: isSetTo + `(` + b64 + `{40,60}={0,2})`, fold: true},
	{id: "aws-secret-key", prefix: "secret-access-key", rest: isSetTo + `(` + b64 + `{40,60}={0,2})`, fold: true},
	{id: "aws-secret-key", prefix: "aws_secret_key", rest: isSetTo + `(` + b64 + `{40,60}={0,2})`, fold: true},
	{id: "aws-secret-key", prefix: "awssecretkey", rest: isSetTo + `(` + b64 + `{40,60}={0,2})`, fold: true},
	{id: "amazon-mws-auth-token", prefix: "amzn.mws.", rest: uuid},
	{id: "amazon-oauth-client-secret", prefix: "amzn1.oa2-cs.v1.", rest: low + `{64}`},
	{id: "amazon-oauth-refresh-token", prefix: "|IwEBI", rest: `[A-Za-z0-9_-]{100,}`},
	{id: "gcp-api-key", prefix: "AIza", rest: urlish + `{35}`},
	{id: "gcp-api-key", prefix: "AQ.Ab", rest: urlish + `{38,}`},
	{id: "firebase-server-key", prefix: ":APA91b", rest: urlish + `{134}`, before: `AAAA` + urlish + `{7}`, back: 11},
	{id: "gcp-oauth-client-secret", prefix: "GOCSPX-", rest: urlish + `{24,32}`},
	{id: "gcp-oauth-access-token", prefix: "ya29.", rest: `[\w.-]{40,}`},
	{id: "gcp-oauth-refresh-token", prefix: "1//0", rest: urlish + `{40,}`, apart: true},
	{id: "azure-storage-key", prefix: "AccountKey=", rest: `(` + b64 + `{86}==)`},
	{id: "azure-shared-access-key", prefix: "SharedAccessKey=", rest: `(` + b64 + `{43}=)`},
	{id: "azure-ad-client-secret", prefix: "Q~", rest: `[a-zA-Z0-9_~.-]{31,34}`, before: `[a-zA-Z0-9_~.]{3}[0-9]`, back: 4},
	{id: "azure-devops-pat", prefix: "AZDO", rest: word + `{4}`, before: word + `{76}`, back: 76},
	{id: "azure-api-key", prefix: "JQQJ99", rest: word + `{26}`, before: word + `{52}`, back: 52},
	{id: "azure-storage-key", prefix: "+ASt", rest: b64 + `{6}==`, before: b64 + `{76}`, back: 76},
	{id: "azure-function-key", prefix: "AzFu", rest: urlish + `{6}==`, before: urlish + `{44}`, back: 44},
	// Microsoft marks the keys of its services with letters near the end.
	{id: "azure-cosmos-db-key", prefix: "ACDb", rest: b64 + `{5}[AQgw]==`, before: b64 + `{76}`, back: 76},
	{id: "azure-batch-key", prefix: "+ABa", rest: b64 + `{5}[AQgw]==`, before: b64 + `{76}`, back: 76},
	{id: "azure-api-management-key", prefix: "APIM", rest: b64 + `{5}[AQgw]==`, before: b64 + `{76}`, back: 76},
	{id: "azure-machine-learning-key", prefix: "+AMC", rest: b64 + `{5}[AQgw]==`, before: b64 + `{76}`, back: 76},
	{id: "azure-iot-hub-key", prefix: "AIoT", rest: `[A-P]` + b64 + `{5}=`, before: b64 + `{33}`, back: 33},
	{id: "azure-service-bus-key", prefix: "+ASb", rest: `[A-P]` + b64 + `{5}=`, before: b64 + `{33}`, back: 33},
	{id: "azure-event-hubs-key", prefix: "+AEh", rest: `[A-P]` + b64 + `{5}=`, before: b64 + `{33}`, back: 33},
	{id: "azure-relay-key", prefix: "+ARm", rest: `[A-P]` + b64 + `{5}=`, before: b64 + `{33}`, back: 33},
	{id: "azure-event-grid-key", prefix: "AZEG", rest: `[A-P]` + b64 + `{5}=`, before: b64 + `{33}`, back: 33},
	{id: "azure-redis-key", prefix: "AzCa", rest: `[A-P]` + word + `{5}=`, before: word + `{33}`, back: 33},
	{id: "azure-search-key", prefix: "AzSe", rest: `[A-D]` + word + `{5}`, before: word + `{42}`, back: 42},
	{id: "azure-container-registry-key", prefix: "+ACR", rest: `[A-D]` + b64 + `{5}`, before: b64 + `{42}`, back: 42},
	{id: "azure-sas-token", prefix: "sig=", rest: `(%?[\w+/][\w+/%]{42,100}(?:=|%3[Dd]))`, alone: true},
	{id: "azure-logic-app-url", prefix: "&sv=1.0&sig=", rest: `(` + urlish + `{43})`},
	{id: "azure-devops-pat", prefix: "azure_devops_pat", rest: isSetTo + `([a-z2-7]{52})`, fold: true},
	{id: "azure-devops-pat", prefix: "azure_devops_ext_pat", rest: isSetTo + `([a-z2-7]{52})`, fold: true},
	{id: "alibaba-access-key-id", prefix: "LTAI", rest: word + `{16,26}`, apart: true},
	{id: "tencent-cloud-secret-id", prefix: "AKID", rest: word + `{32}`, apart: true},
	{id: "yandex-api-key", prefix: "AQVN", rest: urlish + `{35,38}`, apart: true},
	{id: "yandex-oauth-token", prefix: "y0_", rest: urlish + `{50,70}`},
	{id: "yandex-iam-token", prefix: "t1.9euel", rest: urlish + `{40,400}\.` + urlish + `{86}`},
	{id: "digitalocean-access-token", prefix: "doo_v1_", rest: low + `{64}`},
	{id: "digitalocean-pat", prefix: "dop_v1_", rest: low + `{64}`},
	{id: "digitalocean-refresh-token", prefix: "dor_v1_", rest: low + `{64}`},
	{id: "cloudflare-origin-ca-key", prefix: "v1.0-", rest: low + `{24}-` + low + `{146}`},
	{id: "cloudflare-api-token", prefix: "cfut_", rest: `[\w-]{40,80}`},
	{id: "cloudflare-api-token", prefix: "cfat_", rest: `[\w-]{40,80}`},
	{id: "cloudflare-global-api-key", prefix: "cfk_", rest: `[\w-]{40,80}`},
	{id: "cloudflare-api-token", prefix: "cloudflare_api_token", rest: isSetTo + `(` + urlish + `{40})`, fold: true},
	{id: "cloudflare-api-token", prefix: "cf_api_token", rest: isSetTo + `(` + urlish + `{40})`, fold: true},
	{id: "cloudflare-global-api-key", prefix: "cloudflare_api_key", rest: isSetTo + `(` + low + `{37,45})`, fold: true},
	{id: "cloudflare-global-api-key", prefix: "cf_api_key", rest: isSetTo + `(` + low + `{37,45})`, fold: true},
	{id: "cloudflare-global-api-key", prefix: "x-auth-key", rest: isSetTo + `(` + low + `{37,45})`, fold: true},
	{id: "flyio-access-token", prefix: "fo1_", rest: urlish + `{43}`},
	{id: "flyio-access-token", prefix: "fm1", rest: `[ar]_[A-Za-z0-9+/]{100,}`},
	{id: "flyio-access-token", prefix: "fm2_", rest: `[A-Za-z0-9+/]{100,}`},
	{id: "heroku-api-key", prefix: "HRKU-", rest: urlish + `{36,70}`},
	{id: "heroku-api-key", prefix: "heroku_api_key", rest: isSetTo + `(` + uuid + `)`, fold: true},
	{id: "vercel-token", prefix: "vcp_", rest: word + `{24,70}`},
	{id: "vercel-token", prefix: "vck_", rest: word + `{24,70}`},
	{id: "vercel-token", prefix: "vca_", rest: word + `{24,70}`},
	{id: "vercel-token", prefix: "vci_", rest: word + `{24,70}`},
	{id: "vercel-token", prefix: "vcr_", rest: word + `{24,70}`},
	{id: "vercel-blob-token", prefix: "vercel_blob_rw_", rest: word + `{10,24}_` + word + `{20,50}`},
	{id: "vercel-token", prefix: "vercel_token", rest: isSetTo + `(` + word + `{24})`, fold: true},
	{id: "netlify-access-token", prefix: "nfp_", rest: word + `{36,46}`},
	{id: "netlify-access-token", prefix: "nfc_", rest: word + `{36,46}`},
	{id: "netlify-access-token", prefix: "nfo_", rest: word + `{36,46}`},
	{id: "netlify-access-token", prefix: "nfu_", rest: word + `{36,46}`},
	{id: "netlify-access-token", prefix: "nfb_", rest: word + `{36,46}`},
	{id: "supabase-access-token", prefix: "sbp_", rest: `(?:v0_|oauth_)?` + low + `{40}`},
	{id: "supabase-secret-key", prefix: "sb_secret_", rest: urlish + `{20,60}`},
	{id: "neon-api-key", prefix: "napi_", rest: `[a-z0-9]{40,80}`},
	{id: "neon-database-password", prefix: "npg_", rest: word + `{12,40}`, apart: true},
	{id: "aiven-password", prefix: "AVNS_", rest: urlish + `{15,40}`},
	{id: "render-api-key", prefix: "rnd_", rest: word + `{28,40}`},
	{id: "confluent-api-secret", prefix: "cflt", rest: b64 + `{60}`, apart: true},
	{id: "elastic-api-key", prefix: "essu_", rest: b64 + `{40,200}={0,2}`},
	{id: "planetscale-api-token", prefix: "pscale_tkn_", rest: `[\w=.-]{32,64}`},
	{id: "planetscale-oauth-token", prefix: "pscale_oauth_", rest: `[\w=.-]{32,64}`},
	{id: "planetscale-password", prefix: "pscale_pw_", rest: `[\w=.-]{32,64}`},
	{id: "mongodb-service-account-secret", prefix: "mdb_sa_sk_", rest: urlish + `{30,60}`},
	{id: "databricks-api-token", prefix: "dapi", rest: low + `{32}`, apart: true},
	{id: "databricks-api-token", prefix: "dose", rest: low + `{32}`, apart: true},
	{id: "databricks-api-token", prefix: "dsapi", rest: low + `{32}`, apart: true},
	{id: "databricks-api-token", prefix: "dkea", rest: low + `{32}`, apart: true},
	{id: "doppler-api-token", prefix: "dp.", rest: `(?:pt|st|ct|sa|said|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?` + word + `{40,44}`},
	{id: "vault-service-token", prefix: "hvs.", rest: urlish + `{24,}`},
	{id: "vault-batch-token", prefix: "hvb.", rest: urlish + `{80,}`},
	{id: "vault-batch-token", prefix: "b.AAAAAQ", rest: urlish + `{100,}`},
	{id: "vault-recovery-token", prefix: "hvr.", rest: urlish + `{24,}`},
	{id: "hashicorp-tf-api-token", prefix: ".atlasv1.", rest: `[A-Za-z0-9=_-]{60,70}`, before: word + `{14}`, back: 14},
	{id: "pulumi-api-token", prefix: "pul-", rest: low + `{40}`},
	{id: "tailscale-key", prefix: "tskey-", rest: `(?:auth|api|client|scim|webhook)-` + word + `{6,30}-` + word + `{16,60}`},
	{id: "1password-service-account-token", prefix: "ops_eyJ", rest: `[A-Za-z0-9+/_-]{100,}`},
	{id: "1password-secret-key", prefix: "A3-", rest: `[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`, apart: true},
	{id: "age-secret-key", prefix: "AGE-SECRET-KEY-1", rest: `[A-Z0-9]{58}`},

	{id: "stripe-access-token", prefix: "sk_live_", rest: word + `{16,}`},
	{id: "stripe-access-token", prefix: "sk_test_", rest: word + `{16,}`},
	{id: "stripe-access-token", prefix: "rk_live_", rest: word + `{16,}`},
	{id: "stripe-access-token", prefix: "rk_test_", rest: word + `{16,}`},
	{id: "stripe-access-token", prefix: "sk_org_", rest: `(?:live_|test_)?` + word + `{20,}`},
	{id: "liveblocks-secret-key", prefix: "sk_prod_", rest: urlish + `{40,}`},
	{id: "stripe-webhook-secret", prefix: "whsec_", rest: b64 + `{24,90}`},
	{id: "square-access-token", prefix: "sq0atp-", rest: urlish + `{22,60}`},
	{id: "square-access-token", prefix: "sq0csp-", rest: urlish + `{40,60}`},
	{id: "braintree-access-token", prefix: "access_token$", rest: `(?:production|sandbox)\$[a-z0-9]{16}\$` + low + `{32}`},
	{id: "razorpay-key", prefix: "rzp_live_", rest: word + `{14}`},
	{id: "shopify-access-token", prefix: "shpat_", rest: `[a-fA-F0-9]{32}`},
	{id: "shopify-custom-access-token", prefix: "shpca_", rest: `[a-fA-F0-9]{32}`},
	{id: "shopify-private-app-access-token", prefix: "shppa_", rest: `[a-fA-F0-9]{32}`},
	{id: "shopify-shared-secret", prefix: "shpss_", rest: `[a-fA-F0-9]{32}`},
	{id: "shopify-user-access-token", prefix: "shpua_", rest: `[a-fA-F0-9]{32}`},
	{id: "shopify-theme-token", prefix: "shptka_", rest: `[a-fA-F0-9]{32}`},
	{id: "shopify-refresh-token", prefix: "shprt_", rest: `[a-fA-F0-9]{32}`},
	{id: "plaid-api-token", prefix: "access-production-", rest: uuid},
	{id: "plaid-api-token", prefix: "access-sandbox-", rest: uuid},
	{id: "lob-api-key", prefix: "live_", rest: low + `{35}`, alone: true},
	{id: "mollie-api-key", prefix: "live_", rest: word + `{30}[\w-]{0,30}`, alone: true},
	{id: "paddle-api-key", prefix: "pdl_", rest: `(?:(?:live|sdbx)_apikey|ntfset)_[a-z0-9]{26}_[\w+/]{20,60}`},
	{id: "flutterwave-live-secret-key", prefix: "FLWSECK-", rest: `[a-z0-9]{32,60}-X`},
	{id: "polar-access-token", prefix: "polar_", rest: `(?:oat|pat)_` + word + `{30,60}`},
	{id: "stytch-secret", prefix: "secret-", rest: `(?:live|test)-` + urlish + `{32,40}={0,2}`, apart: true},
	{id: "clickup-api-token", prefix: "pk_", rest: `[0-9]{5,10}_[A-Z0-9]{32}`, alone: true},
	{id: "klaviyo-api-key", prefix: "pk_", rest: low + `{34}`, alone: true},
	{id: "courier-api-key", prefix: "pk_prod_", rest: word + `{28}`},

	{id: "npm-access-token", prefix: "npm_", rest: word + `{36}`},
	{id: "npm-access-token", prefix: ":_authToken", rest: `[ \t]*=[ \t]*["']?(` + uuid + `)`},
	{id: "pypi-upload-token", prefix: "pypi-AgE", rest: urlish + `{50,}`},
	{id: "rubygems-api-token", prefix: "rubygems_", rest: low + `{48}`},
	{id: "crates-io-token", prefix: "cio", rest: `(?:_tp_)?` + word + `{32}`, apart: true},
	{id: "nuget-api-key", prefix: "oy2", rest: `[a-z0-9]{43}`, apart: true},
	{id: "packagist-token", prefix: "packagist_", rest: `[a-z]{3}_` + low + `{40,80}`},
	{id: "clojars-api-token", prefix: "CLOJARS_", rest: word + `{60}`},
	{id: "docker-pat", prefix: "dckr_pat_", rest: urlish + `{20,60}`},
	{id: "docker-oat", prefix: "dckr_oat_", rest: urlish + `{20,60}`},
	{id: "artifactory-api-key", prefix: "AKCp", rest: word + `{69}`},
	{id: "artifactory-reference-token", prefix: "cmVmdGtu", rest: word + `{56}`},
	{id: "deno-access-token", prefix: "ddp_", rest: word + `{36}`},
	{id: "deno-access-token", prefix: "ddo_", rest: word + `{36}`},
	{id: "deno-access-token", prefix: "ddw_", rest: word + `{36}`},
	{id: "jsr-token", prefix: "jsrp_", rest: word + `{24,60}`},
	{id: "jsr-token", prefix: "jsrd_", rest: word + `{24,60}`},

	{id: "sendgrid-api-token", prefix: "SG.", rest: urlish + `{16,32}\.` + urlish + `{16,64}`, apart: true},
	{id: "sendinblue-api-token", prefix: "xkeysib-", rest: low + `{64}-` + word + `{16}`},
	{id: "sendinblue-smtp-key", prefix: "xsmtpsib-", rest: low + `{64}-` + word + `{16}`},
	{id: "mailgun-private-api-token", prefix: "key-", rest: low + `{32}`, apart: true},
	{id: "mailgun-private-api-token", prefix: "mailgun_api_key", rest: isSetTo + `(` + low + `{32}-` + low + `{8}-` + low + `{8})`, fold: true},
	{id: "mailchimp-api-key", prefix: "-us", rest: `[0-9]{1,2}`, before: low + `{32}`, back: 32},
	{id: "mailersend-api-token", prefix: "mlsn.", rest: low + `{64}`},
	{id: "twilio-auth-token", prefix: "AC", rest: low + "{32}[\"'`]?[ \t]*[,;:|\t][ \t]*[\"'`]?" + low + `{32}`, apart: true},
	{id: "twilio-auth-token", prefix: "twilio_auth_token", rest: isSetTo + `(` + low + `{32})`, fold: true},
	{id: "twilio-auth-token", prefix: "twilioauthtoken", rest: isSetTo + `(` + low + `{32})`, fold: true},
	{id: "resend-api-key", prefix: "re_", rest: word + `{8}_` + word + `{24,40}`, apart: true},
	{id: "hubspot-private-app-token", prefix: "pat-", rest: `(?:na|eu|ap)[0-9]-` + uuid},

	{id: "linear-api-key", prefix: "lin_api_", rest: word + `{40}`},
	{id: "linear-oauth-token", prefix: "lin_oauth_", rest: word + `{40,70}`},
	{id: "linear-webhook-secret", prefix: "lin_wh_", rest: word + `{40}`},
	{id: "notion-api-token", prefix: "ntn_", rest: word + `{40,50}`},
	{id: "notion-api-token", prefix: "secret_", rest: word + `{43}`, apart: true},
	{id: "figma-token", prefix: "figd_", rest: urlish + `{36,50}`},
	{id: "figma-token", prefix: "figu_", rest: urlish + `{36,50}`},
	{id: "figma-token", prefix: "figur_", rest: urlish + `{36,50}`},
	{id: "postman-api-token", prefix: "PMAK-", rest: low + `{24}-` + low + `{34}`},
	{id: "postman-collection-key", prefix: "PMAT-", rest: `[A-Z0-9]{26}`},
	{id: "contentful-pat", prefix: "CFPAT-", rest: urlish + `{43}`},
	{id: "typeform-api-token", prefix: "tfp_", rest: `[\w.=-]{44,60}`, apart: true},
	{id: "airtable-personnal-access-token", prefix: "pat", rest: word + `{14}\.` + low + `{64}`, apart: true},
	{id: "intercom-access-token", prefix: "dG9rO", rest: b64 + `{54}=`, apart: true},
	{id: "salesforce-access-token", prefix: "00D", rest: word + `{12,15}![\w.]{80,}`, apart: true},
	{id: "salesforce-refresh-token", prefix: "5Aep861", rest: `[\w.]{60,}`, apart: true},
	{id: "linkedin-oauth-client-secret", prefix: "WPL_AP1.", rest: word + `{14,20}\.` + b64 + `{6}==`},
	{id: "rapidapi-key", prefix: "jsn", rest: low + `{12}`, before: low + `{10}msh` + low + `{15}p1` + low + `{6}`, back: 36},
	{id: "onesignal-api-key", prefix: "os_v2_", rest: `(?:app|org)_[a-z0-9]{90,}`},
	{id: "telnyx-api-key", prefix: "KEY", rest: `[A-F0-9]{32}_` + word + `{22}`, apart: true},
	{id: "nylas-api-key", prefix: "nyk_v0_", rest: word + `{64}`},
	{id: "grafana-service-account-token", prefix: "glsa_", rest: word + `{32}_[A-Fa-f0-9]{8}`},
	{id: "grafana-cloud-api-token", prefix: "glc_eyJ", rest: `[A-Za-z0-9+/=_-]{32,}`},
	{id: "new-relic-user-api-key", prefix: "NRAK-", rest: `[A-Za-z0-9]{27}`},
	{id: "new-relic-insert-key", prefix: "NRII-", rest: urlish + `{32}`},
	{id: "new-relic-query-key", prefix: "NRIQ-", rest: urlish + `{32}`},
	{id: "new-relic-admin-api-key", prefix: "NRAA-", rest: low + `{27}`},
	{id: "new-relic-rest-api-key", prefix: "NRRA-", rest: low + `{42}`},
	{id: "new-relic-license-key", prefix: "FFFFNRAL", rest: ``, before: `[a-z0-9]{32}`, back: 32},
	{id: "datadog-personal-access-token", prefix: "ddpat_", rest: `\w{30,}`},
	{id: "datadog-personal-access-token", prefix: "ddsat_", rest: `\w{30,}`},
	{id: "datadog-application-key", prefix: "ddapp_", rest: `\w{30,60}`, apart: true},
	{id: "datadog-api-key", prefix: "dd_api_key", rest: isSetTo + `(` + low + `{32})`, fold: true},
	{id: "datadog-api-key", prefix: "dd-api-key", rest: isSetTo + `(` + low + `{32})`, fold: true},
	{id: "datadog-api-key", prefix: "datadog_api_key", rest: isSetTo + `(` + low + `{32})`, fold: true},
	{id: "datadog-application-key", prefix: "dd_app_key", rest: isSetTo + `(` + low + `{40})`, fold: true},
	{id: "datadog-application-key", prefix: "dd-application-key", rest: isSetTo + `(` + low + `{40})`, fold: true},
	{id: "datadog-application-key", prefix: "dd_application_key", rest: isSetTo + `(` + low + `{40})`, fold: true},
	{id: "datadog-application-key", prefix: "datadog_app_key", rest: isSetTo + `(` + low + `{40})`, fold: true},
	{id: "sentry-org-token", prefix: "sntrys_eyJ", rest: `[A-Za-z0-9+/=_-]{60,}`},
	{id: "sentry-user-token", prefix: "sntryu_", rest: low + `{64}`},
	{id: "sentry-app-token", prefix: "sntrya_", rest: low + `{64}`},
	{id: "sentry-integration-token", prefix: "sntryi_", rest: low + `{64}`},
	{id: "dynatrace-api-token", prefix: "dt0", rest: `[cs][0-9]{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}`},
	{id: "launchdarkly-access-token", prefix: "sdk-", rest: uuid, apart: true},
	{id: "launchdarkly-access-token", prefix: "api-", rest: uuid, apart: true},
	{id: "sonar-api-token", prefix: "squ_", rest: low + `{40}`},
	{id: "sonar-api-token", prefix: "sqp_", rest: low + `{40}`},
	{id: "sonar-api-token", prefix: "sqa_", rest: low + `{40}`},
	{id: "sourcegraph-access-token", prefix: "sgp_", rest: `(?:(?:` + low + `{16}|local)_)?` + low + `{40}`},
	{id: "buildkite-api-token", prefix: "bkua_", rest: low + `{40}`},
	{id: "buildkite-agent-token", prefix: "bkct_", rest: urlish + `{30,}`},
	{id: "buildkite-job-token", prefix: "bkaj_", rest: `[\w.=-]{60,}`},
	{id: "honeycomb-api-key", prefix: "hcaik_", rest: `[a-z0-9]{40,70}`},
	{id: "honeycomb-api-key", prefix: "hcxik_", rest: `[a-z0-9]{40,70}`},
	{id: "honeycomb-api-key", prefix: "hcaic_", rest: `[a-z0-9]{40,70}`},
	{id: "honeycomb-api-key", prefix: "hcxmk_", rest: `[a-z0-9]{40,70}`},
	{id: "honeycomb-api-key", prefix: "hcamk_", rest: `[a-z0-9]{40,70}`},
	{id: "axiom-api-token", prefix: "xaat-", rest: uuid},
	{id: "axiom-api-token", prefix: "xapt-", rest: uuid},
	{id: "logfire-token", prefix: "pylf_v", rest: `[0-9]{1,2}_(?:[a-z]{2}_)?` + word + `{40,60}`},
	{id: "circleci-token", prefix: "CCIPAT_", rest: `\w{40,80}`},
	{id: "circleci-token", prefix: "CCIPRJ_", rest: `\w{40,80}`},
	{id: "prefect-api-token", prefix: "pnu_", rest: word + `{36}`},
	{id: "readme-api-token", prefix: "rdme_", rest: `[a-z0-9]{70}`},
	{id: "posthog-personal-api-key", prefix: "phx_", rest: `\w{40,60}`, apart: true},
	{id: "posthog-secure-api-key", prefix: "phs_", rest: `\w{40,60}`, apart: true},
	{id: "inngest-signing-key", prefix: "signkey-", rest: `(?:prod|test|branch)-` + low + `{64}`},
	{id: "trigger-dev-key", prefix: "tr_prod_", rest: word + `{20,60}`, apart: true},
	{id: "trigger-dev-key", prefix: "tr_dev_", rest: word + `{20,60}`, apart: true},
	{id: "trigger-dev-key", prefix: "tr_pat_", rest: word + `{20,60}`, apart: true},
	{id: "dbt-cloud-token", prefix: "dbtc_", rest: urlish + `{36,60}`},
	{id: "dbt-cloud-token", prefix: "dbtu_", rest: urlish + `{36,60}`},
	{id: "statsig-secret-key", prefix: "secret-", rest: word + `{43}`, apart: true},
	{id: "hex-api-token", prefix: "hxtp_", rest: low + `{96}`},
	{id: "gitbook-api-token", prefix: "gb_api_", rest: word + `{40}`},
	{id: "easypost-api-token", prefix: "EZAK", rest: word + `{54}`, apart: true},
	{id: "mapbox-secret-token", prefix: "sk.eyJ", rest: urlish + `{40,120}\.` + urlish + `{20,30}`},
	{id: "shippo-api-token", prefix: "shippo_live_", rest: low + `{40}`},
	{id: "snyk-access-token", prefix: "snyk_", rest: `(?:uat|sat)\.` + low + `{8}\.[\w.-]{40,}`},
	{id: "sourcegraph-access-token", prefix: "sgd_", rest: low + `{64}`},
	{id: "sourcegraph-access-token", prefix: "sgamp_user_", rest: `[A-Z0-9]{26}_` + low + `{64}`},
	{id: "weblate-api-key", prefix: "wlu_", rest: word + `{36}`},
	{id: "weblate-api-key", prefix: "wlp_", rest: word + `{36}`},
	{id: "tigris-secret-key", prefix: "tsec_", rest: `[\w+-]{40,80}`, apart: true},
	{id: "xata-api-key", prefix: "xau_", rest: word + `{36}`},
	{id: "docker-swarm-join-token", prefix: "SWMTKN-1-", rest: `[a-z0-9]{50}-[a-z0-9]{25}`},
	{id: "dropbox-short-lived-api-token", prefix: "sl.", rest: urlish + `{130,}`},
	{id: "dropbox-short-lived-api-token", prefix: "sl.u.", rest: urlish + `{130,}`},
	{id: "baidu-api-key", prefix: "bce-v3/ALTAK-", rest: word + `{21}/` + low + `{40}`},
	// Chat robots, whose URLs are their secrets.
	{id: "lark-webhook-url", prefix: "/open-apis/bot/v2/hook/", rest: `(` + uuid + `)`},
	{id: "dingtalk-webhook-url", prefix: "dingtalk.com/robot/send?access_token=", rest: `(` + low + `{64})`},
	{id: "wecom-webhook-url", prefix: "/cgi-bin/webhook/send?key=", rest: `(` + uuid + `)`},
	{id: "google-chat-webhook-url", prefix: "chat.googleapis.com/v1/spaces/", rest: `[\w-]{5,20}/messages\?key=[\w-]{39}&token=[\w%-]{30,80}`},
	{id: "zapier-webhook-url", prefix: "hooks.zapier.com/hooks/catch/", rest: `[0-9]{4,10}/[a-z0-9]{6,12}`},

	// The private members of a key in JSON.
	{id: "jwk-private-key", prefix: `"d"`, rest: `\s*:\s*"(` + urlish + `{43}|` + urlish + `{64}|` + urlish + `{88}|` + urlish + `{171,})"`},
	{id: "jwk-private-key", prefix: `"p"`, rest: `\s*:\s*"(` + urlish + `{86,})"`},
	{id: "jwk-private-key", prefix: `"q"`, rest: `\s*:\s*"(` + urlish + `{86,})"`},
	{id: "jwk-private-key", prefix: `"dp"`, rest: `\s*:\s*"(` + urlish + `{86,})"`},
	{id: "jwk-private-key", prefix: `"dq"`, rest: `\s*:\s*"(` + urlish + `{86,})"`},
	{id: "jwk-private-key", prefix: `"qi"`, rest: `\s*:\s*"(` + urlish + `{86,})"`},

	// The parts may be so long that an expression would read them again and again.
	{id: ruleJWT, prefix: "eyJ", rest: urlish + `{12,}\.eyJ` + urlish + `{8,}\.` + urlish + `{16,}`, parts: true},
	// A token of this length need not stand apart.
	{id: "sendgrid-api-token", prefix: "SG.", rest: urlish + `{22}\.` + urlish + `{43}`},
	// Tokens of agents for the API of reviewgate itself; see app/api.
	{id: "reviewgate-token", prefix: "rg_", rest: urlish + `{49}`, apart: true},
}

// formatRule is a format whose expressions compile themselves when its prefix is found.
type formatRule struct {
	*rule
	regex *lazy.Regexp // anchored at the start of before, or of the prefix
	apart bool
	alone bool
	parts bool

	least, back int
	length      int      // of the prefix
	setting     *setting // set if the prefix is a name
}

// maxFormat is how far the longest format reaches after its prefix, in bytes.
const maxFormat = 9 << 10

// formatSet finds the formats in a text, in one pass over it.
type formatSet struct {
	matcher *literals.Matcher
	rules   [][]formatRule // by the matcher's literal
	lengths []int          // of the literals
}

var allFormats = sync.OnceValue(func() *formatSet {
	s := &formatSet{}
	at := map[string]int{}
	var prefixes []string
	for i := range formats {
		f := &formats[i]
		n, ok := at[f.prefix]
		if !ok {
			n = len(prefixes)
			at[f.prefix], prefixes = n, append(prefixes, f.prefix)
			s.rules, s.lengths = append(s.rules, nil), append(s.lengths, len(f.prefix))
		}
		prefix := regexp.QuoteMeta(f.prefix)
		if f.fold {
			prefix = `(?i:` + prefix + `)`
		}
		s.rules[n] = append(s.rules[n], formatRule{
			rule:  &rule{id: f.id, description: title(f.id)},
			regex: lazy.MustCompile(`^` + f.before + prefix + f.rest),
			apart: f.apart || f.alone, alone: f.alone, parts: f.parts, least: cmp.Or(f.least, f.back), back: f.back,
			length: len(f.prefix), setting: newSetting(f),
		})
	}
	s.matcher = literals.NewMatcher(prefixes)
	return s
})

// maxWithin is longer than the overlap of a token and a placeholder before it can be.
const maxWithin = 64

// find returns the tokens in a text, except placeholders, in the order of their prefixes. It does
// not search within tokens that it found, so the time is linear.
func (s *formatSet) find(text string) []match {
	var out []match
	done := 0
	var runs runs
	s.matcher.Find(text, func(ids []int, end int) {
		for _, id := range ids {
			start := end - s.lengths[id]
			if start < done {
				continue
			}
			for i := range s.rules[id] {
				m, ok := s.rules[id][i].at(text, start, &runs)
				switch {
				case !ok:
					continue
				case isDocumentedJWT(text[m.from:m.to]):
					done = max(done, end) // its header and signature may be anything
				case isPlaceholderToken(text[m.from:m.to]):
					// A token may begin near the end of the placeholder. A longer
					// overlap would have made the placeholder a token.
					done = max(done, m.to-maxWithin)
				default:
					out, done = append(out, m), m.to
				}
				break
			}
		}
	})
	return out
}

// least is the length of the shortest prefix of a value that a rule accepts as a token. It is 0 if
// the token is there in another form.
func (s *formatSet) least(id, value string) int {
	token := func(n int) bool {
		found := s.find(value[:n])
		return len(found) > 0 && found[0].from == 0 && found[0].rule.id == id
	}
	if !token(len(value)) {
		return 0
	}
	return sort.Search(len(value), token)
}

// at returns the token whose prefix is at start.
func (f *formatRule) at(text string, start int, runs *runs) (match, bool) {
	if f.parts {
		to := jwtAt(text, start, runs)
		return match{rule: f.rule, start: start, from: start, to: to}, to > 0
	}
	for back := f.back; back >= f.least; back-- {
		from := start - back
		if from < 0 || f.apart && !f.mayBegin(text, from) {
			continue
		}
		at := f.regex.Get().FindStringSubmatchIndex(text[from:min(len(text), start+maxFormat)])
		if at == nil {
			continue
		}
		m := match{rule: f.rule, start: from, from: from + at[0], to: from + at[1]}
		if len(at) > 2 && at[2] >= 0 {
			m.from, m.to = from+at[2], from+at[3]
		}
		return m, true
	}
	if f.setting != nil {
		if from, to, ok := f.set(text, start); ok {
			return match{rule: f.rule, start: min(start, from), from: from, to: to}, true
		}
	}
	return match{}, false
}

// set returns the value of the name at start if the expression does not find it: it is set in
// another way, or comments come between.
func (f *formatRule) set(text string, start int) (from, to int, ok bool) {
	if from, to, ok = f.setting.find(text, start, start+f.length); ok {
		return from, to, ok
	}
	r, name := withoutComments(text, start, start+f.length)
	if r == nil {
		return 0, 0, false
	}
	if at := f.regex.Get().FindStringSubmatchIndex(r.text[name:]); at != nil {
		from, to, ok = name+at[2], name+at[3], true
	} else {
		from, to, ok = f.setting.find(r.text, name, name+f.length)
	}
	if ok {
		from, to = r.spanIn(from, to)
	}
	return from, to, ok
}

// mayBegin reports whether a token that must stand apart from words may begin at an offset. No
// letter or digit may come before it, unless that is the end of "%s", "%.0s", "%1$d" and the like,
// or of "u003d", an escape that has lost its backslash.
func (f *formatRule) mayBegin(text string, at int) bool {
	if at == 0 {
		return true
	}
	last := text[at-1]
	return !isWord(last) || last == '_' && !f.alone || lostEscape.MatchString(text[max(0, at-len("u003d")):at]) || endsInVerb(text[:at])
}

var (
	lostEscape = regexp.MustCompile(`^u00[0-9a-fA-F]{2}$`)
	// verb matches a placeholder in a format string: as in C and similar languages, with Go's index
	// in brackets, or with the names of Python and Ruby.
	verb = regexp.MustCompile(`^%(?:[-+#0-9.$* ]|'.|\[\w*\]|\(\w*\)|<\w*>)*(?:[a-zA-Z]|(?:hh?|ll?|[jztLqwv])[sdiuxXoc])$`)
)

// endsInVerb reports whether a text ends in a format verb. It goes back over characters that a verb
// may have, and never over two words, so it reads no part of a text often.
func endsInVerb(text string) bool {
	back := func(at int, is func(byte) bool) int {
		for at > 0 && is(text[at-1]) {
			at--
		}
		return at
	}
	const letters = 3 // "lld"
	at := len(text)
	for at > 0 && len(text)-at < letters && isLetter(text[at-1]) {
		at--
	}
	for {
		before := at
		at = back(at, func(c byte) bool { return strings.IndexByte("-+#0123456789.$*' ", c) >= 0 })
		switch {
		case byteAt(text, at-2) == '\'':
			at -= 2
		case strings.IndexByte(")]>", byteAt(text, at-1)) >= 0:
			at = back(at-1, isWord)
			if strings.IndexByte("([<", byteAt(text, at-1)) < 0 {
				return false
			}
			at--
		case byteAt(text, at-1) == '%':
			return verb.MatchString(text[at-1:])
		}
		if at == before {
			return false
		}
	}
}

func isLetter(c byte) bool { return isWord(c) && c != '_' && (c < '0' || c > '9') }

// jwtAt returns the end of the JWT that begins at start, or 0.
func jwtAt(text string, start int, runs *runs) int {
	const header, payload, signature = 15, 11, 16
	end := runs.end(text, start)
	if end-start < header || !strings.HasPrefix(text[end:], ".eyJ") {
		return 0
	}
	second := end + 1
	if end = runs.end(text, second); end-second < payload || !strings.HasPrefix(text[end:], ".") {
		return 0
	}
	third := end + 1
	if end = runs.end(text, third); end-third < signature {
		return 0
	}
	return end
}

// runs remembers the ends of runs of a JWT's characters, so that each is read once. The last three
// are enough: those of one token.
type runs struct {
	from, to [3]int
	next     int
}

func (r *runs) end(text string, at int) int {
	for i := range r.from {
		if r.from[i] <= at && at < r.to[i] {
			return r.to[i]
		}
	}
	to := at
	for to < len(text) && (isWord(text[to]) || text[to] == '-') {
		to++
	}
	r.from[r.next], r.to[r.next] = at, to
	r.next = (r.next + 1) % len(r.from)
	return to
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}
