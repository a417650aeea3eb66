//! The report of a fit.

use crate::answers::Answers;
use crate::error::{raised, spec};
use crate::message::Parameters;
use pyo3::prelude::*;
use rflvm::internal::run::pool;
use rflvm_report::{Image, Subject, html};
use rflvm_study::Error;

#[pymethods]
impl Answers {
    /// The page as text; `labels` replace those of the table, and `image` is the height and the width of rows that are pictures.
    #[pyo3(signature = (*, title=None, labels=None, image=None))]
    fn report(
        &self,
        py: Python<'_>,
        title: Option<String>,
        labels: Option<(String, Vec<String>)>,
        image: Option<(usize, usize)>,
    ) -> PyResult<String> {
        let image = image.map(|(height, width)| Image { height, width });
        let pool = pool(&self.fit.settings).map_err(spec)?;
        self.fit.use_instructions();
        let page = || -> Result<String, Error> {
            let fitted = self.drawn.fitted(&self.fit, "results");
            let frame = fitted.frame()?;
            let embedding = fitted.embedding(&frame)?;
            let draws = (&self.drawn, &self.convergence);
            let mut subject = Subject::of(&self.fit, draws, (&frame, &embedding), &Parameters)?;
            if let Some((name, labels)) = &labels {
                (subject.rows.label_name, subject.rows.labels) = (name, Some(labels.as_slice()));
            }
            subject.title = title.unwrap_or(subject.title);
            Ok(html(&subject, image)?)
        };
        py.detach(|| pool.install(page)).map_err(raised)
    }
}
