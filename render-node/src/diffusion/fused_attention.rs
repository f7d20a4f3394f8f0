//! Replaces attention by one node. Exports write attention out in parts (scores, softmax, weighted
//! sum, and transposing of tensors between them), and ONNX Runtime runs these parts as they are,
//! with every score of every pair of positions in memory. Its own operator `MultiHeadAttention` of
//! the domain `com.microsoft` gives the same numbers block by block (T. Dao et al.,
//! "FlashAttention", 2022).
//!
//! The pattern searched for is PyTorch's `scaled_dot_product_attention` without a mask, as its
//! exporter to ONNX writes it for diffusers. Anything that differs is left as it is.

use super::onnx_file::{Attribute, Node, OnnxFile, Tensor};
use std::collections::HashMap;

const DOMAIN: &str = "com.microsoft";
const OPERATOR: &str = "MultiHeadAttention";
/// Transposition between (batch, positions, heads, width) and (batch, heads, positions, width). It
/// is its own inverse.
const HEADS_FORWARD: [i64; 4] = [0, 2, 1, 3];
/// Same as [`HEADS_FORWARD`], with positions and width exchanged for the product.
const HEADS_FORWARD_TURNED: [i64; 4] = [0, 2, 3, 1];

/// Replaces every attention that it finds. Returns how many there were.
pub fn fuse(file: &mut OnnxFile) -> usize {
    let has_inner_graphs =
        file.nodes().flat_map(|node| &node.attributes).any(|a| a.graph.is_some() || !a.graphs.is_empty());
    let is_of_32_bits =
        |weight: &Tensor| !matches!(weight.numbers, Tensor::FLOAT16 | Tensor::BFLOAT16 | Tensor::FLOAT64);
    // Inner graphs read tensors of the outer one by name, and on the CPU the operator takes only
    // 32-bit floats.
    if has_inner_graphs || !file.weights().all(is_of_32_bits) {
        return 0;
    }
    let graph = FileGraph::of(file);
    let found: Vec<(usize, Node)> = graph.nodes.iter().filter_map(|node| graph.attention(node)).collect();
    let count = found.len();
    if count > 0 {
        file.exchange(found);
    }
    count
}

/// The nodes of a file, and which node makes and which nodes use each tensor.
struct FileGraph<'a> {
    file: &'a OnnxFile,
    nodes: Vec<&'a Node>,
    maker: HashMap<&'a str, usize>,
    users: HashMap<&'a str, Vec<usize>>,
    weights: HashMap<&'a str, &'a Tensor>,
}

/// Queries, keys or values before they are cut into heads: batch, positions, heads times width.
struct AttentionInput<'a> {
    tensor: &'a str,
    heads: i64,
    scale: Option<Scale>,
}

/// The factor on queries and keys.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// The operator's own factor: each is multiplied by the fourth root of the reciprocal of a
    /// head's width, which the graph computes from a shape.
    Usual,
    Number(f64),
}

impl<'a> FileGraph<'a> {
    fn of(file: &'a OnnxFile) -> Self {
        let nodes: Vec<&Node> = file.nodes().collect();
        let mut maker = HashMap::new();
        let mut users: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, node) in nodes.iter().enumerate() {
            maker.extend(node.outputs.iter().map(|name| (name.as_str(), place)));
            for name in &node.inputs {
                users.entry(name).or_default().push(place);
            }
        }
        let weights = file.weights().map(|weight| (weight.name.as_str(), weight)).collect();
        Self { file, nodes, maker, users, weights }
    }

    /// Returns, for the attention around a softmax, the index of its last node and the node that
    /// replaces it. Returns `None` if the graph around `softmax` differs from the pattern.
    fn attention(&self, softmax: &Node) -> Option<(usize, Node)> {
        let is_over_keys = matches!(softmax.attribute("axis").and_then(|a| a.integer), None | Some(-1 | 3));
        if softmax.operator != "Softmax" || !is_over_keys {
            return None;
        }
        let scores = self.made_by("MatMul", softmax.input(0)?)?;
        let sum = self.only_user("MatMul", softmax)?;
        if sum.input(0)? != softmax.outputs.first()? {
            return None;
        }
        let queries = self.made_by("Mul", scores.input(0)?)?.input(0)?;
        let query = self.scaled_side(scores.input(0)?, HEADS_FORWARD, queries)?;
        let key = self.scaled_side(scores.input(1)?, HEADS_FORWARD_TURNED, queries)?;
        let value = self.side(sum.input(1)?, HEADS_FORWARD)?;
        if query.heads != key.heads || key.heads != value.heads {
            return None;
        }
        let scale = match (query.scale?, key.scale?) {
            (Scale::Usual, Scale::Usual) => None,
            (Scale::Number(query), Scale::Number(key)) => Some((query * key) as f32),
            _ => return None,
        };
        let back = self.only_user("Transpose", sum)?;
        if !back.turns(HEADS_FORWARD) {
            return None;
        }
        let last = self.only_user("Reshape", back)?;
        let heads = Attribute::of_integer("num_heads", query.heads);
        let scale = scale.map(|scale| Attribute::of_float("scale", scale));
        let fused = Node {
            inputs: [query.tensor, key.tensor, value.tensor].map(str::to_owned).to_vec(),
            outputs: last.outputs.clone(),
            name: format!("{}/fused", softmax.name),
            operator: OPERATOR.to_owned(),
            attributes: [heads].into_iter().chain(scale).collect(),
            domain: DOMAIN.to_owned(),
        };
        Some((*self.maker.get(last.outputs.first()?.as_str())?, fused))
    }

    /// Matches `Mul(side, root of the scale)`. The scale may be computed from the shape of
    /// `queries`.
    fn scaled_side(&self, name: &str, turn: [i64; 4], queries: &str) -> Option<AttentionInput<'a>> {
        let scaled = self.made_by("Mul", name)?;
        let scale = self.scale(scaled.input(1)?, queries)?;
        Some(AttentionInput { scale: Some(scale), ..self.side(scaled.input(0)?, turn)? })
    }

    /// Matches `Transpose(Reshape(tensor, [batch, -1, heads, width]))`.
    fn side(&self, name: &str, turn: [i64; 4]) -> Option<AttentionInput<'a>> {
        let turned = self.made_by("Transpose", name).filter(|node| node.turns(turn))?;
        let cut = self.made_by("Reshape", turned.input(0)?)?;
        let heads = self.heads(cut.input(1)?)?;
        Some(AttentionInput { tensor: cut.input(0)?, heads, scale: None })
    }

    /// Returns the third number of a shape with four numbers, which is concatenated or constant.
    fn heads(&self, shape: &str) -> Option<i64> {
        let heads = match (self.constant(shape), self.made_by("Concat", shape)) {
            (Some(sizes), _) if sizes.len() == 4 => sizes[2],
            (None, Some(concat)) if concat.inputs.len() == 4 => match self.constant(concat.input(2)?)?[..] {
                [heads] => heads,
                _ => return None,
            },
            _ => return None,
        };
        (heads >= 1.0).then_some(heads as i64)
    }

    /// Matches a number, or `Sqrt(1 / Sqrt(width))` with the width of a head, the last size of
    /// `queries`.
    fn scale(&self, name: &str, queries: &str) -> Option<Scale> {
        if let Some(numbers) = self.constant(name) {
            return match numbers[..] {
                [number] => Some(Scale::Number(number)),
                _ => None,
            };
        }
        let root = self.made_by("Sqrt", name)?;
        let quotient = self.made_by("Div", self.before_casts(root.input(0)?)?)?;
        if self.constant(quotient.input(0)?)? != [1.0] {
            return None;
        }
        let width = self.made_by("Sqrt", quotient.input(1)?)?;
        let last = self.made_by("Slice", self.before_casts(width.input(0)?)?)?;
        if self.constant(last.input(1)?)? != [-1.0] {
            return None;
        }
        let shape = self.made_by("Shape", last.input(0)?)?;
        (shape.input(0)? == queries).then_some(Scale::Usual)
    }

    fn constant(&self, name: &str) -> Option<Vec<f64>> {
        let mut name = name;
        while let Some(same) = self.made_by("Identity", name) {
            name = same.input(0)?;
        }
        match self.weights.get(name) {
            Some(weight) => weight.values(),
            None => self.made_by("Constant", name)?.attribute("value")?.tensor.as_ref()?.values(),
        }
    }

    fn before_casts(&self, name: &'a str) -> Option<&'a str> {
        let mut name = name;
        while let Some(cast) = self.made_by("Cast", name) {
            name = cast.input(0)?;
        }
        Some(name)
    }

    fn made_by(&self, operator: &str, name: &str) -> Option<&'a Node> {
        let node = self.nodes[*self.maker.get(name)?];
        (node.operator == operator && node.domain.is_empty()).then_some(node)
    }

    /// Returns the node that uses the only output of `of`, if it is the only user.
    fn only_user(&self, operator: &str, of: &Node) -> Option<&'a Node> {
        let [output] = &of.outputs[..] else { return None };
        match self.users.get(output.as_str())?[..] {
            [user] if !self.file.is_output(output) => {
                let node = self.nodes[user];
                (node.operator == operator && node.domain.is_empty()).then_some(node)
            }
            _ => None,
        }
    }
}

impl Node {
    fn input(&self, place: usize) -> Option<&str> {
        self.inputs.get(place).map(String::as_str)
    }

    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    fn turns(&self, order: [i64; 4]) -> bool {
        self.attribute("perm").is_some_and(|perm| perm.integers == order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn read(graph: &str) -> OnnxFile {
        let path = Path::new("tests/fixtures/checkpoints").join(graph).join("model.onnx");
        OnnxFile::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// `tests/node/stable_diffusion.rs` compares the outputs of the fused graphs with diffusers.
    #[test]
    fn every_attention_without_a_mask_becomes_one_node() {
        for (graph, expected) in [
            ("sd/unet", 8),
            ("sd/controlnet", 4),
            ("sd/vae_encoder", 1),
            ("sd/vae_decoder", 1),
            ("sdxl/unet", 8),
            ("sdxl/controlnet", 4),
            ("instead/fused/unet", 12),
            ("instead/lcm/unet", 8),
            ("instead/plain/unet", 8),
            // The text encoder masks its attention: words attend only to those before them.
            ("sd/text_encoder", 0),
        ] {
            let mut file = read(graph);
            let before = file.nodes().len();
            assert_eq!(fuse(&mut file), expected, "{graph}");
            let made: Vec<&Node> = file.nodes().filter(|node| node.operator == OPERATOR).collect();
            assert!(made.iter().all(|node| node.domain == DOMAIN && node.inputs.len() == 3), "{graph}: {made:?}");
            assert_eq!(made.len(), expected, "{graph}");
            // Shapes and scales that only attention needed are removed, too.
            assert!(file.nodes().len() + 20 * expected <= before, "{graph}: {before} and then {}", file.nodes().len());
        }
    }

    #[test]
    fn an_attention_that_somebody_looks_into_is_left_alone() {
        let mut file = read("sd/vae_decoder");
        let softmax = file.nodes().position(|node| node.operator == "Softmax").expect("an attention");
        let scores = file.nodes().nth(softmax).expect("it").outputs[0].clone();
        let looks = Node {
            inputs: vec![scores],
            outputs: vec!["looked".to_owned()],
            operator: "Relu".to_owned(),
            ..Node::default()
        };
        let end = file.nodes().len() - 1;
        let last = file.nodes().nth(end).expect("one").clone();
        assert!(file.is_output(&last.outputs[0]));
        let sum =
            Node { inputs: vec![last.inputs[0].clone(), "looked".to_owned()], operator: "Add".to_owned(), ..last };
        file.exchange(vec![(softmax + 1, looks), (end, sum)]);
        assert_eq!(fuse(&mut file), 0);
    }
}
