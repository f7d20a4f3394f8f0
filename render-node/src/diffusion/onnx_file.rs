//! An `.onnx` file read without its weights. Its nodes can be inspected and exchanged. Its weights
//! stay where they are, as external data at an offset in the same file. Anything not understood
//! here is carried over byte by byte.
//!
//! The format is Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding) with the
//! messages of `onnx.proto`, which `prost` decodes where a value is needed.
//!
//! Why: `docs/decisions/diffusion-and-models.md` (Weights on the CPU are memory-mapped).

use prost::Message;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Weights with fewer bytes stay in the graph, because ONNX Runtime reads shapes from them before
/// it reads external data.
const OUTSIDE_BYTES_MIN: u64 = 1024;
/// Maximum length of a message that is read into memory, in bytes. Weights are not read.
const MESSAGE_BYTES_MAX: u64 = 1 << 28;

// Numbers of fields in messages of onnx.proto.
const MODEL_GRAPH: u32 = 7;
const MODEL_OPERATOR_SET: u32 = 8;
const GRAPH_NODE: u32 = 1;
const GRAPH_INITIALIZER: u32 = 5;
const GRAPH_OUTPUT: u32 = 12;
const TENSOR_RAW_DATA: u32 = 9;

const DELIMITED: u32 = 2;
const LOCATED_OUTSIDE: i32 = 1;

/// A node of a graph (`NodeProto`).
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(string, repeated, tag = "1")]
    pub inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub outputs: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub operator: String,
    #[prost(message, repeated, tag = "5")]
    pub attributes: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// An attribute of a node (`AttributeProto`).
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, optional, tag = "2")]
    pub float: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub integer: Option<i64>,
    #[prost(message, optional, tag = "5")]
    pub tensor: Option<Tensor>,
    /// A graph inside the node.
    #[prost(bytes = "vec", optional, tag = "6")]
    pub graph: Option<Vec<u8>>,
    #[prost(int64, repeated, tag = "8")]
    pub integers: Vec<i64>,
    #[prost(bytes = "vec", repeated, tag = "11")]
    pub graphs: Vec<Vec<u8>>,
    #[prost(int32, tag = "20")]
    pub kind: i32,
}

impl Attribute {
    pub fn of_float(name: &str, value: f32) -> Self {
        Attribute { name: name.to_owned(), float: Some(value), kind: 1, ..Attribute::default() }
    }

    pub fn of_integer(name: &str, value: i64) -> Self {
        Attribute { name: name.to_owned(), integer: Some(value), kind: 2, ..Attribute::default() }
    }
}

/// A tensor (`TensorProto`). `numbers` is its element type.
#[derive(Clone, PartialEq, Message)]
pub struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    pub sizes: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub numbers: i32,
    #[prost(float, repeated, tag = "4")]
    floats: Vec<f32>,
    #[prost(int64, repeated, tag = "7")]
    integers: Vec<i64>,
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(bytes = "vec", tag = "9")]
    raw: Vec<u8>,
}

impl Tensor {
    const FLOAT32: i32 = 1;
    const INT64: i32 = 7;
    pub const FLOAT16: i32 = 10;
    pub const FLOAT64: i32 = 11;
    pub const BFLOAT16: i32 = 16;

    /// Returns its numbers if they are 32-bit floats or 64-bit integers and are stored in the
    /// graph.
    pub fn values(&self) -> Option<Vec<f64>> {
        let values: Vec<f64> = match (self.numbers, self.raw.is_empty()) {
            (Self::FLOAT32, true) => self.floats.iter().map(|v| f64::from(*v)).collect(),
            (Self::FLOAT32, false) => {
                self.raw.as_chunks().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
            }
            (Self::INT64, true) => self.integers.iter().map(|v| *v as f64).collect(),
            (Self::INT64, false) => {
                self.raw.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes) as f64).collect()
            }
            _ => return None,
        };
        (values.len() as i64 == self.sizes.iter().product::<i64>()).then_some(values)
    }
}

/// External location of a weight, in the form that ONNX Runtime reads.
#[derive(Clone, PartialEq, Message)]
struct ExternalWeight {
    #[prost(message, repeated, tag = "13")]
    entries: Vec<MetadataEntry>,
    #[prost(int32, tag = "14")]
    location: i32,
}

#[derive(Clone, PartialEq, Message)]
struct MetadataEntry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct OperatorSet {
    #[prost(string, tag = "1")]
    domain: String,
    #[prost(int64, tag = "2")]
    version: i64,
}

#[derive(Clone, PartialEq, Message)]
struct NamedValue {
    #[prost(string, tag = "1")]
    name: String,
}

/// An `.onnx` file without the bytes of its weights.
pub struct OnnxFile {
    /// In an order in which they can run.
    nodes: Vec<(Node, Vec<u8>)>,
    weights: Vec<(Tensor, Vec<u8>)>,
    outputs: HashSet<String>,
    /// Domains of the operators that the model may use.
    domains: Vec<String>,
    /// Everything else of the graph and of the model, as it is in the file.
    rest_of_graph: Vec<u8>,
    rest_of_model: Vec<u8>,
}

impl OnnxFile {
    /// Reads a file without its weights. Returns an error if the file is cut short or is no ONNX
    /// model.
    pub fn read(path: &Path) -> io::Result<Self> {
        let location = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| invalid("it has no name"))?;
        let file = File::open(path)?;
        let end = file.metadata()?.len();
        let mut reader = Reader { file: BufReader::new(file), at: 0 };
        let mut read = Self {
            nodes: Vec::new(),
            weights: Vec::new(),
            outputs: HashSet::new(),
            domains: Vec::new(),
            rest_of_graph: Vec::new(),
            rest_of_model: Vec::new(),
        };
        while reader.at < end {
            let field = reader.field()?;
            match field.number {
                MODEL_GRAPH if field.wire == DELIMITED => read.read_graph(&mut reader, field.length, location)?,
                MODEL_OPERATOR_SET if field.wire == DELIMITED => {
                    let bytes = reader.bytes(&field)?;
                    read.domains.push(decoded::<OperatorSet>(&bytes)?.domain);
                    field.write(&bytes, &mut read.rest_of_model);
                }
                _ => field.write(&reader.bytes(&field)?, &mut read.rest_of_model),
            }
        }
        Ok(read)
    }

    fn read_graph(&mut self, reader: &mut Reader, length: u64, location: &str) -> io::Result<()> {
        let end = reader.at + length;
        while reader.at < end {
            let field = reader.field()?;
            match field.number {
                GRAPH_NODE => {
                    let bytes = reader.bytes(&field)?;
                    self.nodes.push((decoded(&bytes)?, bytes));
                }
                GRAPH_INITIALIZER => {
                    let bytes = reader.weight(field.length, location)?;
                    self.weights.push((decoded(&bytes)?, bytes));
                }
                GRAPH_OUTPUT => {
                    let bytes = reader.bytes(&field)?;
                    self.outputs.insert(decoded::<NamedValue>(&bytes)?.name);
                    field.write(&bytes, &mut self.rest_of_graph);
                }
                _ => field.write(&reader.bytes(&field)?, &mut self.rest_of_graph),
            }
        }
        Ok(())
    }

    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &Node> {
        self.nodes.iter().map(|(node, _)| node)
    }

    pub fn weights(&self) -> impl Iterator<Item = &Tensor> {
        self.weights.iter().map(|(tensor, _)| tensor)
    }

    /// Returns true if `name` is an output of the graph.
    pub fn is_output(&self, name: &str) -> bool {
        self.outputs.contains(name)
    }

    /// Replaces the nodes at the given indices, and drops everything that only the replaced nodes
    /// needed.
    pub fn exchange(&mut self, places: Vec<(usize, Node)>) {
        for (place, node) in places {
            if !self.domains.contains(&node.domain) {
                self.domains.push(node.domain.clone());
                let set = OperatorSet { domain: node.domain.clone(), version: 1 }.encode_to_vec();
                delimited(MODEL_OPERATOR_SET, &set, &mut self.rest_of_model);
            }
            let bytes = node.encode_to_vec();
            self.nodes[place] = (node, bytes);
        }
        self.drop_unused();
    }

    fn drop_unused(&mut self) {
        let maker: HashMap<&str, usize> = self
            .nodes()
            .enumerate()
            .flat_map(|(place, node)| node.outputs.iter().map(move |name| (name.as_str(), place)))
            .collect();
        let mut used = vec![false; self.nodes.len()];
        let mut needed: HashSet<&str> = HashSet::new();
        let mut open: Vec<&str> = self.outputs.iter().map(String::as_str).collect();
        while let Some(name) = open.pop() {
            if !needed.insert(name) {
                continue;
            }
            if let Some(place) = maker.get(name) {
                used[*place] = true;
                open.extend(self.nodes[*place].0.inputs.iter().map(String::as_str));
            }
        }
        let needed: HashSet<String> = needed.into_iter().map(str::to_owned).collect();
        let mut used = used.into_iter();
        self.nodes.retain(|_| used.next().unwrap_or(true));
        self.weights.retain(|(tensor, _)| needed.contains(&tensor.name));
    }

    /// Encodes the model for ONNX Runtime, which finds the weights in the folder of the file.
    pub fn encode(&self) -> Vec<u8> {
        let mut graph = Vec::new();
        for (_, bytes) in &self.nodes {
            delimited(GRAPH_NODE, bytes, &mut graph);
        }
        for (_, bytes) in &self.weights {
            delimited(GRAPH_INITIALIZER, bytes, &mut graph);
        }
        graph.extend(&self.rest_of_graph);
        let mut model = self.rest_of_model.clone();
        delimited(MODEL_GRAPH, &graph, &mut model);
        model
    }
}

struct Field {
    number: u32,
    wire: u32,
    /// Length of the value after the key, in bytes.
    length: u64,
    /// Value of a varint field, which is read together with its key.
    value: u64,
}

impl Field {
    fn write(&self, bytes: &[u8], out: &mut Vec<u8>) {
        prost::encoding::encode_varint(u64::from(self.number << 3 | self.wire), out);
        match self.wire {
            0 => prost::encoding::encode_varint(self.value, out),
            DELIMITED => {
                prost::encoding::encode_varint(self.length, out);
                out.extend(bytes);
            }
            _ => out.extend(bytes),
        }
    }
}

struct Reader {
    file: BufReader<File>,
    at: u64,
}

impl Reader {
    fn varint(&mut self) -> io::Result<u64> {
        let (mut value, mut byte) = (0u64, [0u8]);
        for place in 0..10 {
            self.file.read_exact(&mut byte)?;
            self.at += 1;
            value |= u64::from(byte[0] & 127) << (7 * place);
            if byte[0] < 128 {
                return Ok(value);
            }
        }
        Err(invalid("a number does not end"))
    }

    fn field(&mut self) -> io::Result<Field> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).map_err(|_| invalid("a field has no number"))?;
        let wire = (key & 7) as u32;
        let (length, value) = match wire {
            0 => (0, self.varint()?),
            1 => (8, 0),
            DELIMITED => (self.varint()?, 0),
            5 => (4, 0),
            _ => return Err(invalid("a field has no known kind")),
        };
        Ok(Field { number, wire, length, value })
    }

    fn bytes(&mut self, field: &Field) -> io::Result<Vec<u8>> {
        if field.length > MESSAGE_BYTES_MAX {
            return Err(invalid("a message is too long"));
        }
        let mut bytes = Vec::new();
        self.file.by_ref().take(field.length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != field.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += field.length;
        Ok(bytes)
    }

    /// Reads a tensor. Its bytes stay outside if there are many.
    fn weight(&mut self, length: u64, location: &str) -> io::Result<Vec<u8>> {
        let end = self.at + length;
        let mut tensor = Vec::new();
        while self.at < end {
            let field = self.field()?;
            if field.number == TENSOR_RAW_DATA && field.length >= OUTSIDE_BYTES_MIN {
                let entry = |key: &str, value: String| MetadataEntry { key: key.to_owned(), value };
                let entries = vec![
                    entry("location", location.to_owned()),
                    entry("offset", self.at.to_string()),
                    entry("length", field.length.to_string()),
                ];
                tensor.extend(ExternalWeight { entries, location: LOCATED_OUTSIDE }.encode_to_vec());
                self.skip(field.length)?;
            } else {
                let bytes = self.bytes(&field)?;
                field.write(&bytes, &mut tensor);
            }
        }
        Ok(tensor)
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let distance = i64::try_from(length).map_err(|_| invalid("a weight is too long"))?;
        self.file.seek_relative(distance)?;
        self.at += length;
        // Seeking past the end succeeds, so the position is compared with the length.
        match self.file.fill_buf()?.is_empty() && self.file.get_ref().metadata()?.len() < self.at {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(()),
        }
    }
}

fn decoded<T: Message + Default>(bytes: &[u8]) -> io::Result<T> {
    T::decode(bytes).map_err(|error| invalid(&error.to_string()))
}

fn invalid(detail: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, detail.to_owned())
}

fn delimited(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    Field { number, wire: DELIMITED, length: bytes.len() as u64, value: 0 }.write(bytes, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNET: &str = "tests/fixtures/checkpoints/sd/unet/model.onnx";

    #[test]
    fn weights_stay_in_the_file() {
        let whole = std::fs::read(UNET).expect("read");
        let file = OnnxFile::read(Path::new(UNET)).expect("read");
        let encoded = file.encode();
        let (mut outside, mut bytes_outside) = (0, 0);
        for (tensor, bytes) in &file.weights {
            let place: ExternalWeight = ExternalWeight::decode(&bytes[..]).expect("a tensor");
            if place.location != LOCATED_OUTSIDE {
                continue;
            }
            assert!(tensor.raw.is_empty());
            let entry = |key: &str| &place.entries.iter().find(|entry| entry.key == key).expect("an entry").value;
            assert_eq!(entry("location"), "model.onnx");
            let (offset, length): (usize, usize) =
                (entry("offset").parse().expect("a number"), entry("length").parse().expect("a number"));
            assert_eq!(length as i64, 4 * tensor.sizes.iter().product::<i64>(), "{}", tensor.name);
            assert!(offset + length <= whole.len());
            outside += 1;
            bytes_outside += length;
        }
        assert!(outside > 20, "{outside}");
        // The encoded graph contains nothing beyond the file's content and the entries that locate
        // the weights.
        assert!(encoded.len() + bytes_outside <= whole.len() + 100 * outside, "{} {bytes_outside}", encoded.len());
    }

    #[test]
    fn a_file_that_ends_early_is_an_error_wherever_it_ends() {
        let whole = std::fs::read(UNET).expect("read");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model.onnx");
        for ratio in 1..50 {
            std::fs::write(&path, &whole[..whole.len() * ratio / 50]).expect("written");
            // A file cut between two fields of the model would be valid; no part of this file is
            // that small.
            assert!(OnnxFile::read(&path).is_err(), "{ratio} of 50");
        }
        std::fs::write(&path, b"not a model, but some text").expect("written");
        assert!(OnnxFile::read(&path).is_err());
    }
}
