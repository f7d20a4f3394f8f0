//! Converts a prompt to embeddings for the UNet: CLIP's tokenizer and text encoders.

use super::layout::{PipelineLayout, TextEncoder};
use crate::diffusion::diffusion_error::DiffusionError;
use crate::diffusion::graph::{Graph, Numbers, OtherOutputs, expected};
use crate::diffusion::model_file::{LockError, expect_at_most, expect_file, read_json};
use crate::diffusion::model_folder::ModelFolder;
use crate::diffusion::run_memory::RunMemory;
use crate::diffusion::{OnnxRuntime, Provider};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokenizers::models::bpe::BPE;
use tokenizers::normalizers::{Lowercase, NFC, Replace, Sequence};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::processors::roberta::RobertaProcessing;
use tokenizers::{
    AddedToken, NormalizerWrapper, PaddingParams, PaddingStrategy, SplitDelimiterBehavior, Tokenizer, TruncationParams,
};

const INPUT_IDS: &str = "input_ids";
const LAST_HIDDEN_STATE: &str = "last_hidden_state";
/// Optimum's name for the pooled and projected embedding.
const TEXT_EMBEDS: &str = "text_embeds";

/// Regular expression of CLIP's words (Radford et al., "Learning Transferable Visual Models From
/// Natural Language Supervision", 2021).
const WORD: &str = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";
const START: &str = "<|startoftext|>";
const END: &str = "<|endoftext|>";
/// Number of tokens of one letter: one for each byte, alone and at the end of a word.
const LETTERS: usize = 512;

/// Maximum size of a tokenizer file, in bytes. CLIP's are some 2 MB at most.
const TOKENIZER_BYTES_MAX: u64 = 32 << 20;

/// Number of prompts whose embeddings are cached: the views of one vehicle, and the negative
/// prompt.
const KEPT: usize = 32;

/// The embedding of a prompt.
#[derive(Debug)]
pub struct Embedding {
    /// Rows as wide as the hidden states, one per token.
    pub hidden: Vec<f32>,
    /// Embedding of the whole prompt; empty except for SDXL.
    pub pooled: Vec<f32>,
}

/// The text encoders of a pipeline, with a cache of embeddings.
pub struct TextEncoders {
    encoders: Vec<Encoder>,
    tokens: usize,
    width: usize,
    pooled_width: usize,
    zeros_for_empty_prompt: bool,
    /// Cached embeddings, the most recently used first.
    kept: Vec<(String, Arc<Embedding>)>,
}

struct Encoder {
    graph: Graph,
    tokenizer: Tokenizer,
    /// Name of the output with the hidden states.
    hidden: String,
    width: usize,
    /// Width of the pooled embedding, if it is taken from this encoder.
    pooled: Option<usize>,
}

/// The content of `tokenizer_config.json`. Older files have the tokens as text, newer ones as
/// objects.
#[derive(Deserialize)]
struct TokenizerConfig {
    pad_token: Option<Token>,
    #[serde(default)]
    model_max_length: Option<f64>,
    /// Tokens that are found in a prompt before it is split into words, by their number.
    #[serde(default)]
    added_tokens_decoder: BTreeMap<String, AddedToken>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Token {
    Text(String),
    Object { content: String },
}

impl TextEncoders {
    pub fn load(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &ModelFolder,
        layout: &PipelineLayout,
    ) -> Result<Self, DiffusionError> {
        let tokens =
            layout.text_encoders.iter().map(|encoder| encoder.config.max_position_embeddings).min().unwrap_or(0);
        let load = |(place, encoder): (usize, &TextEncoder)| {
            let pooled = (layout.is_xl() && place == 1).then_some(encoder.config.projection_dim);
            Encoder::load(runtime, provider, folder, encoder, EncoderSize { tokens, is_xl: layout.is_xl(), pooled })
        };
        let encoders = layout.text_encoders.iter().enumerate().map(load).collect::<Result<Vec<_>, _>>()?;
        let pooled_width = encoders.iter().filter_map(|encoder| encoder.pooled).sum();
        Ok(Self {
            encoders,
            tokens,
            width: layout.unet.cross_attention_dim,
            pooled_width,
            zeros_for_empty_prompt: layout.zeros_for_empty_prompt,
            kept: Vec::new(),
        })
    }

    /// Returns the number of tokens of a prompt.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Returns the width of the pooled embedding; 0 without one.
    pub fn pooled_width(&self) -> usize {
        self.pooled_width
    }

    /// Returns the embedding that guidance leads away from, for a negative prompt or for none.
    pub fn embed_negative(&mut self, prompt: Option<&str>) -> Result<Arc<Embedding>, DiffusionError> {
        match prompt {
            None if self.zeros_for_empty_prompt => Ok(Arc::new(Embedding {
                hidden: vec![0.0; self.tokens * self.width],
                pooled: vec![0.0; self.pooled_width],
            })),
            prompt => self.embed(prompt.unwrap_or_default()),
        }
    }

    /// Returns the embedding of a prompt, from the cache if it is there.
    pub fn embed(&mut self, prompt: &str) -> Result<Arc<Embedding>, DiffusionError> {
        match self.kept.iter().position(|(kept, _)| kept == prompt) {
            Some(place) => self.kept[..=place].rotate_right(1),
            None => {
                let embedding = Arc::new(self.encode(prompt)?);
                self.kept.truncate(KEPT - 1);
                self.kept.insert(0, (prompt.to_owned(), embedding));
            }
        }
        Ok(self.kept[0].1.clone())
    }

    fn encode(&mut self, prompt: &str) -> Result<Embedding, DiffusionError> {
        let mut pooled = Vec::new();
        let mut states = Vec::new();
        for encoder in &mut self.encoders {
            let (hidden, of_this) = encoder.encode(prompt, self.tokens)?;
            states.push((encoder.width, hidden));
            pooled.extend(of_this);
        }
        // The encoders' states are put side by side, token by token.
        let rows = (0..self.tokens)
            .flat_map(|token| states.iter().flat_map(move |(width, hidden)| &hidden[token * width..][..*width]));
        let hidden = rows.copied().collect();
        Ok(Embedding { hidden, pooled })
    }
}

/// Sizes of an encoder's outputs.
struct EncoderSize {
    /// Number of tokens of a prompt.
    tokens: usize,
    is_xl: bool,
    /// Width of the pooled embedding, if it has one.
    pooled: Option<usize>,
}

impl Encoder {
    fn load(
        runtime: &OnnxRuntime,
        provider: Provider,
        folder: &ModelFolder,
        encoder: &TextEncoder,
        EncoderSize { tokens, is_xl, pooled }: EncoderSize,
    ) -> Result<Self, DiffusionError> {
        let tokenizer = open_tokenizer(folder, encoder, tokens)?;
        let graph = Graph::open(runtime, provider, folder, &encoder.graph, RunMemory::GivenBack)?;
        // SDXL takes the states before the last layer. The list of states begins with those of the
        // embeddings, before the first layer.
        let hidden = match is_xl {
            true => format!("hidden_states.{}", encoder.config.num_hidden_layers.saturating_sub(1)),
            false => LAST_HIDDEN_STATE.to_owned(),
        };
        let width = encoder.config.hidden_size;
        let mut outputs = vec![expected(&hidden, Numbers::Floats, &[Some(1), Some(tokens), Some(width)])];
        outputs.extend(pooled.map(|width| expected(TEXT_EMBEDS, Numbers::Floats, &[Some(1), Some(width)])));
        let inputs = [expected(INPUT_IDS, Numbers::Integers, &[Some(1), Some(tokens)])];
        graph.check(&inputs, &outputs, OtherOutputs::Ignored)?;
        Ok(Self { graph, tokenizer, hidden, width, pooled })
    }

    /// Returns the hidden states and, if this encoder has it, the pooled embedding.
    fn encode(&mut self, prompt: &str, tokens: usize) -> Result<(Vec<f32>, Vec<f32>), DiffusionError> {
        let encoded = self.tokenizer.encode(prompt, true);
        let encoded = encoded.map_err(|e| self.graph.signature(format!("the prompt has no tokens: {e}")))?;
        // Ids are far below 2^24, up to which every whole number is an f32.
        let ids: Vec<f32> = encoded.get_ids().iter().map(|id| *id as f32).collect();
        let mut names = vec![self.hidden.as_str()];
        names.extend(self.pooled.map(|_| TEXT_EMBEDS));
        let mut binding = self.graph.binding()?;
        self.graph.bind(&mut binding, INPUT_IDS, &[1, tokens], &ids)?;
        for name in &names {
            self.graph.bind_output_here(&mut binding, name)?;
        }
        let values = self.graph.run(&binding, &names)?;
        let hidden = self.graph.floats(&self.hidden, &values[0], tokens * self.width)?;
        let pooled = match (self.pooled, values.get(1)) {
            (Some(width), Some(value)) => self.graph.floats(TEXT_EMBEDS, value, width)?,
            _ => Vec::new(),
        };
        Ok((self.graph.finite(hidden)?, self.graph.finite(pooled)?))
    }
}

/// Opens a tokenizer that truncates and pads every prompt to `tokens` tokens.
fn open_tokenizer(folder: &ModelFolder, encoder: &TextEncoder, tokens: usize) -> Result<Tokenizer, LockError> {
    let file = |name: &str| format!("{}/{name}", encoder.tokenizer);
    let config: TokenizerConfig = read_json(folder.root(), &file("tokenizer_config.json"))?;
    folder.expect_listed(&file("tokenizer_config.json"))?;
    let whole = file("tokenizer.json");
    let (mut tokenizer, vocabulary) = if folder.path(&whole).is_file() {
        expect_at_most(&folder.path(&whole), TOKENIZER_BYTES_MAX)?;
        let opened = Tokenizer::from_file(folder.path(&whole));
        (opened.map_err(|e| folder.broken_file(&whole, e.to_string()))?, whole)
    } else {
        (clip_tokenizer(folder, &file("vocab.json"), &file("merges.txt"))?, file("vocab.json"))
    };
    if let Some(length) = config.model_max_length.filter(|length| *length < tokens as f64) {
        let detail = format!("`model_max_length` is {length} where {} takes {tokens} tokens", encoder.graph);
        return Err(folder.broken_file(&file("tokenizer_config.json"), detail));
    }
    let pad_token = config.pad_token.map_or_else(
        || END.to_owned(),
        |token| match token {
            Token::Text(content) | Token::Object { content } => content,
        },
    );
    let pad_id = tokenizer.token_to_id(&pad_token).ok_or_else(|| {
        folder.broken_file(&vocabulary, format!("it has no token `{pad_token}`, the `pad_token` of the tokenizer"))
    })?;
    // The padding token is added even if it is a character that may occur in a prompt: SDXL pads
    // with exclamation marks.
    let added = config.added_tokens_decoder.into_values().chain([AddedToken::from(pad_token.clone(), true)]);
    let unusable = |e: tokenizers::Error| folder.broken_file(&vocabulary, e.to_string());
    tokenizer.add_special_tokens(added).map_err(unusable)?;
    let size = tokenizer.get_vocab_size(true);
    if size > encoder.config.vocab_size {
        let detail = format!("it has {size} tokens where {} takes {}", encoder.graph, encoder.config.vocab_size);
        return Err(folder.broken_file(&vocabulary, detail));
    }
    let strategy = PaddingStrategy::Fixed(tokens);
    tokenizer.with_padding(Some(PaddingParams { strategy, pad_id, pad_token, ..PaddingParams::default() }));
    let truncation = TruncationParams { max_length: tokens, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(unusable)?;
    Ok(tokenizer)
}

/// Makes CLIP's tokenizer from the two files that preceded `tokenizer.json`.
fn clip_tokenizer(folder: &ModelFolder, vocabulary: &str, merges: &str) -> Result<Tokenizer, LockError> {
    for file in [vocabulary, merges] {
        expect_file(folder.root(), file)?;
        folder.expect_listed(file)?;
        expect_at_most(&folder.path(file), TOKENIZER_BYTES_MAX)?;
    }
    let lossy = |file: &str| folder.path(file).to_string_lossy().into_owned();
    let (words, pairs) = BPE::read_file(&lossy(vocabulary), &lossy(merges))
        .map_err(|e| folder.broken_file(vocabulary, format!("{e} (with {merges})")))?;
    // Each pair makes a token. A list that ends early would split words into other tokens than the
    // text encoder learned.
    let specials = [START, END].iter().filter(|token| words.contains_key(**token)).count();
    if pairs.len() + LETTERS + specials < words.len() {
        let detail = format!("it joins {} pairs, too few for the {} tokens of {vocabulary}", pairs.len(), words.len());
        return Err(folder.broken_file(merges, detail));
    }
    let id = |token: &str| words.get(token).copied();
    let (Some(start), Some(end)) = (id(START), id(END)) else {
        return Err(folder.broken_file(vocabulary, format!("it lacks {START} or {END}")));
    };
    let cannot = |e: tokenizers::Error| folder.broken_file(vocabulary, e.to_string());
    let model = BPE::builder()
        .vocab_and_merges(words, pairs)
        .unk_token(END.to_owned())
        .end_of_word_suffix("</w>".to_owned())
        .build()
        .map_err(cannot)?;
    let mut tokenizer = Tokenizer::new(model);
    let spaces = Replace::new(tokenizers::normalizers::replace::ReplacePattern::Regex(r"\s+".to_owned()), " ")
        .map_err(cannot)?;
    let normalizers =
        vec![NormalizerWrapper::NFC(NFC), NormalizerWrapper::Replace(spaces), NormalizerWrapper::Lowercase(Lowercase)];
    tokenizer.with_normalizer(Some(Sequence::new(normalizers))).map_err(cannot)?;
    let words =
        Split::new(SplitPattern::Regex(WORD.to_owned()), SplitDelimiterBehavior::Removed, true).map_err(cannot)?;
    tokenizer.with_pre_tokenizer(Some(tokenizers::pre_tokenizers::sequence::Sequence::new(vec![
        PreTokenizerWrapper::Split(words),
        PreTokenizerWrapper::ByteLevel(ByteLevel::new(false, true, true)),
    ])));
    tokenizer.with_post_processor(Some(
        RobertaProcessing::new((END.to_owned(), end), (START.to_owned(), start))
            .trim_offsets(false)
            .add_prefix_space(false),
    ));
    Ok(tokenizer)
}
