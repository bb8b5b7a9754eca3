//! The pickle machine: a stack, a memo, and the instructions that data need.

use std::collections::BTreeMap;

use super::{Bytes, Dtype, Id, Object, Pickle, PickleError, array, calls::Function};

/// More objects than any data set's pickle has: mini-ImageNet's have about 40,000.
const MOST_OBJECTS: usize = 1 << 22;

pub(super) struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    pub(super) objects: Vec<Object<'a>>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: BTreeMap<usize, Id>,
    /// Bytes that were made from texts: never more than the pickle has.
    owned: usize,
}

pub(super) type Step<T> = Result<T, PickleError>;

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            objects: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: BTreeMap::new(),
            owned: 0,
        }
    }

    /// Runs to the end.
    pub(super) fn run(mut self) -> Step<Pickle<'a>> {
        if self.take(1)? != [0x80] || !matches!(self.take(1)?, [2..=5]) {
            self.at = 0;
            return self.error("a pickle of protocol 2, 3, 4 or 5", "something else");
        }
        loop {
            let instruction = self.take(1)?[0];
            if instruction == b'.' {
                let root = self.pop()?;
                return Ok(Pickle { objects: self.objects, root });
            }
            self.step(instruction)?;
            if self.objects.len() > MOST_OBJECTS {
                return self.error(format!("at most {MOST_OBJECTS} objects"), "more");
            }
        }
    }

    fn step(&mut self, instruction: u8) -> Step<()> {
        match instruction {
            // Frames only say how much to read ahead.
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.above_mark()?),
            b'N' => self.push(Object::None),
            0x88 => self.push(Object::Bool(true)),
            0x89 => self.push(Object::Bool(false)),
            b'K' | b'M' | b'J' | 0x8a | 0x8b => self.int(instruction)?,
            b'X' | 0x8c | 0x8d => self.text(instruction)?,
            b'U' | b'T' | b'C' | b'B' | 0x8e | 0x96 => self.data(instruction)?,
            b')' => self.push(Object::Tuple(Vec::new())),
            0x85..=0x87 => {
                let start = self.stack.len().checked_sub(usize::from(instruction - 0x84));
                let items = start.filter(|&start| start >= self.floor()).map(|start| self.stack.split_off(start));
                let items = self.some(items, "enough objects for a tuple")?;
                self.push(Object::Tuple(items));
            }
            b't' => {
                let items = self.above_mark()?;
                self.push(Object::Tuple(items));
            }
            b']' | b'}' | b'a' | b'e' | b'l' | b's' | b'u' | b'd' => self.container(instruction)?,
            b'q' | b'r' | 0x94 | b'h' | b'j' => self.memo(instruction)?,
            b'c' | 0x93 => self.global(instruction)?,
            b'R' => self.call()?,
            b'b' => self.build()?,
            other => {
                self.at -= 1;
                return self.error("an instruction that makes plain data", format!("{other:#04x}"));
            }
        }
        Ok(())
    }

    fn int(&mut self, instruction: u8) -> Step<()> {
        let signed = |bytes| Dtype { bytes, signed: true, big_endian: false };
        let length = match instruction {
            b'K' => 1,
            b'M' => 2,
            b'J' => 4,
            0x8a => self.length(1)?,
            _ => self.length(4)?,
        };
        if length > 8 {
            return self.error("an integer of at most 8 bytes", format!("{length} bytes"));
        }
        let bytes = self.take(length)?;
        let dtype = Dtype { signed: !matches!(instruction, b'K' | b'M'), ..signed(length) };
        let int = if bytes.is_empty() { Some(0) } else { array::int(bytes, dtype) };
        let int = self.some(int, "an integer of 64 bits")?;
        self.push(Object::Int(int));
        Ok(())
    }

    fn text(&mut self, instruction: u8) -> Step<()> {
        let length = self.length(match instruction {
            b'X' => 4,
            0x8c => 1,
            _ => 8,
        })?;
        let text = std::str::from_utf8(self.take(length)?).ok();
        let text = self.some(text, "a text in UTF-8")?;
        self.push(Object::Text(text));
        Ok(())
    }

    fn data(&mut self, instruction: u8) -> Step<()> {
        let length = self.length(match instruction {
            b'U' | b'C' => 1,
            b'T' | b'B' => 4,
            _ => 8,
        })?;
        let bytes = self.take(length)?;
        self.push(Object::Bytes(Bytes::Borrowed(bytes)));
        Ok(())
    }

    fn container(&mut self, instruction: u8) -> Step<()> {
        match instruction {
            b']' => self.push(Object::List(Vec::new())),
            b'}' => self.push(Object::Dict(Vec::new())),
            b'l' => {
                let items = self.above_mark()?;
                self.push(Object::List(items));
            }
            b'd' => {
                let items = self.above_mark()?;
                let entries = items.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                self.push(Object::Dict(entries));
            }
            b'a' | b'e' => {
                let items = if instruction == b'a' { vec![self.pop()?] } else { self.above_mark()? };
                let list = self.top()?;
                match &mut self.objects[list] {
                    Object::List(list) => list.extend(items),
                    _ => return self.error("a list to add to", "something else"),
                }
            }
            _ => {
                let items = if instruction == b's' {
                    let value = self.pop()?;
                    vec![self.pop()?, value]
                } else {
                    self.above_mark()?
                };
                let dict = self.top()?;
                match &mut self.objects[dict] {
                    Object::Dict(dict) => dict.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1]))),
                    _ => return self.error("a dictionary to add to", "something else"),
                }
            }
        }
        Ok(())
    }

    fn memo(&mut self, instruction: u8) -> Step<()> {
        match instruction {
            0x94 => drop(self.memo.insert(self.memo.len(), self.top()?)),
            b'q' | b'r' => {
                let place = self.length(if instruction == b'q' { 1 } else { 4 })?;
                let top = self.top()?;
                self.memo.insert(place, top);
            }
            _ => {
                let place = self.length(if instruction == b'h' { 1 } else { 4 })?;
                let id = self.memo.get(&place).copied();
                let id = self.some(id, "something remembered")?;
                self.stack.push(id);
            }
        }
        Ok(())
    }

    fn global(&mut self, instruction: u8) -> Step<()> {
        let (module, name) = if instruction == b'c' {
            (self.line()?, self.line()?)
        } else {
            let (name, module) = (self.pop()?, self.pop()?);
            match (&self.objects[module], &self.objects[name]) {
                (Object::Text(module), Object::Text(name)) => (*module, *name),
                _ => return self.error("the name of a function", "something else"),
            }
        };
        match Function::named(module, name) {
            Some(function) => self.push(Object::Function(function)),
            None => return self.error("nothing but data and numpy arrays", format!("a call of {module:?}.{name:?}")),
        }
        Ok(())
    }

    fn call(&mut self) -> Step<()> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let made = match (&self.objects[function], &self.objects[arguments]) {
            (Object::Function(function), Object::Tuple(arguments)) => self.called(*function, arguments),
            _ => None,
        };
        let made = self.some(made, "arguments that make an array")?;
        if let Object::Bytes(Bytes::Owned(bytes)) = &made {
            self.owned += bytes.len();
        }
        if self.owned > self.bytes.len() {
            return self.error("no more bytes than the pickle has", "more");
        }
        self.push(made);
        Ok(())
    }

    fn push(&mut self, object: Object<'a>) {
        self.stack.push(self.objects.len());
        self.objects.push(object);
    }

    /// What lies below the last mark is out of reach.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    pub(super) fn pop(&mut self) -> Step<Id> {
        let id = if self.stack.len() > self.floor() { self.stack.pop() } else { None };
        self.some(id, "an object on the stack")
    }

    pub(super) fn top(&self) -> Step<Id> {
        let id = if self.stack.len() > self.floor() { self.stack.last().copied() } else { None };
        self.some(id, "an object on the stack")
    }

    fn above_mark(&mut self) -> Step<Vec<Id>> {
        let mark = self.marks.pop();
        let mark = self.some(mark, "a mark")?;
        Ok(self.stack.split_off(mark))
    }

    /// The next bytes of the pickle.
    fn take(&mut self, length: usize) -> Step<&'a [u8]> {
        let bytes = self.at.checked_add(length).and_then(|end| self.bytes.get(self.at..end));
        let bytes = self.some(bytes, "more of the pickle")?;
        self.at += length;
        Ok(bytes)
    }

    /// A little-endian length of so many bytes.
    fn length(&mut self, bytes: usize) -> Step<usize> {
        let mut little = [0; 8];
        little[..bytes].copy_from_slice(self.take(bytes)?);
        let length = usize::try_from(u64::from_le_bytes(little)).ok();
        self.some(length, "a length that fits in memory")
    }

    fn line(&mut self) -> Step<&'a str> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().take(256).position(|&byte| byte == b'\n');
        let end = self.some(end, "a line of at most 255 bytes")?;
        let line = self.take(end + 1)?;
        self.some(std::str::from_utf8(&line[..end]).ok(), "a line of text")
    }

    pub(super) fn some<T>(&self, value: Option<T>, expected: &str) -> Step<T> {
        value.ok_or_else(|| PickleError { offset: self.at, expected: expected.into(), found: "something else".into() })
    }

    pub(super) fn error<T>(&self, expected: impl Into<String>, found: impl Into<String>) -> Step<T> {
        Err(PickleError { offset: self.at, expected: expected.into(), found: found.into() })
    }
}
